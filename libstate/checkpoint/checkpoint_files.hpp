#pragma once

#include "libstate/checkpoint/completed_checkpoint.hpp"
#include "libactors/base/file_system.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace headrace::state {

/// The files that a checkpoint has state in, each with the bytes that it has at least.
std::map<std::string, std::uint64_t> files_of(const completed_checkpoint& checkpoint);

/// Looks whether all of them are there and as long as they must be; what is in them is not read.
/// For a checkpoint that someone names: one that has been moved without the files that it shares
/// with others can be told at once. May block.
/// @errors corrupt_snapshot  names one that is missing or too short, and how many are
status check_files(file_system& files, const completed_checkpoint& checkpoint);

} // namespace headrace::state
