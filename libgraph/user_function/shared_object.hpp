#pragma once

#include "libactors/base/file_system.hpp"
#include "libactors/base/result.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

// Code that users bring: jobs and libraries of functions.
namespace headrace::graph {

/// What an object is loaded for.
enum class object_use : std::uint8_t { job, functions };

/// A shared object that is loaded: for the life of the process, as function objects, exceptions and
/// thread-local values of it may be anywhere. Any thread.
class shared_object {
public:
  shared_object(void* handle, std::string digest, std::vector<std::string> functions)
      : handle_(handle), digest_(std::move(digest)), functions_(std::move(functions)) {}

  /// SHA-256 of the file, 64 hex digits.
  const std::string& digest() const { return digest_; }
  /// Names of the SQL functions in it.
  const std::vector<std::string>& functions() const { return functions_; }
  /// The address of an exported symbol; nullptr: there is none.
  void* symbol(const std::string& name) const;

private:
  void* handle_; ///< never closed
  std::string digest_;
  std::vector<std::string> functions_;
};

/// Loads an object, once: of the same content there is one in the process, as the dynamic linker
/// has it. One that changed under the same path is loaded beside the old one. Blocks; any thread.
/// @errors job_object_unloadable    no file, no shared object of this machine, nothing for that use
///                                  in it, or a symbol that is missing
/// @errors job_object_incompatible  built with another compiler, library, version, or other headers
result<std::shared_ptr<const shared_object>>
load_shared_object(file_system& files, const std::string& path, object_use use);
/// What was loaded of that digest; null: nothing.
std::shared_ptr<const shared_object> find_shared_object(std::string_view digest);

/// Reads the stamp of an object out of the file, running none of its code.
/// @errors job_object_unloadable  as of load_shared_object
result<std::string> read_stamp(file_system& files, const std::string& path, object_use use);
/// Says which lines of two stamps differ ("compiler: the job has gcc 13, this is gcc 12"); empty:
/// none.
std::string stamp_difference(const std::string& of_object, const std::string& own,
                             object_use use = object_use::job);

} // namespace headrace::graph
