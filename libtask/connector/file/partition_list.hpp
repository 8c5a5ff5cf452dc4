#pragma once

#include "libtask/connector/file/partition_path.hpp"
#include "libactors/base/file_system.hpp"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::task {

/// The partitions that a table has directories of, sorted: "dt=2024-02-29/hm=12:30", with values as
/// they are. A directory that is not there has none; what is no partition is passed over. Blocks.
/// @param missing  names the partition of NULL
/// @param fixed    values by key: only partitions that have them
/// @errors bad_usage       the directory is on another file system or machine
/// @errors storage_failed  the storage does not answer now
result<std::vector<std::string>>
list_partitions(file_system& files, std::string_view directory, std::span<const std::string> keys,
                std::string_view missing,
                const std::map<std::string, std::string, std::less<>>& fixed);

} // namespace headrace::task
