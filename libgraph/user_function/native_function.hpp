#pragma once

#include "libgraph/user_function/user_code.hpp"
#include "libactors/base/file_system.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

// Functions in C++, of libraries.
namespace headrace::graph {

/// A function of a shared object, as the object tells of it. Made by the macros of
/// libgraph/api/sql_function.hpp. What it throws is caught by those who call.
struct native_function {
  user_form form = user_form::scalar;
  bool has_retract = false;
  bool has_merge = false;
  std::vector<logical_type> parameters;
  logical_type result = logical_type::null(); ///< of a table function the ROW that it gives
  /// Make an instance for one thread; only that of the form is there.
  std::function<std::unique_ptr<user_scalar>()> make_scalar;
  std::function<std::unique_ptr<user_table>()> make_table;
  std::function<std::unique_ptr<user_aggregate>()> make_aggregate;
};

struct loaded_function {
  std::string digest;                    ///< of the library
  const native_function* code = nullptr; ///< as long as the process
};

/// Finds a function of a library, which is loaded when it is not yet. Blocks; any thread.
/// @errors job_object_unloadable, job_object_incompatible  as load_shared_object; no such function
result<loaded_function> load_native_function(file_system& files, const std::string& path,
                                             const std::string& name);

/// Finds a function of an object that is loaded.
/// @errors job_object_unloadable  no such object, or no such function in it
result<loaded_function> find_native_function(const std::string& digest, const std::string& name);

/// Calls of functions of libraries that are loaded by then: the definition is not looked into
/// before the first call, as those who only check a job do not have the library.
std::unique_ptr<user_scalar> make_native_scalar(const user_function& of);
std::unique_ptr<user_table> make_native_table(const user_function& of);
std::unique_ptr<user_aggregate> make_native_aggregate(const user_function& of);

} // namespace headrace::graph
