#include "libgraph/user_function/user_code.hpp"

#include "libgraph/user_function/lua_functions.hpp"
#include "libgraph/user_function/native_function.hpp"

namespace headrace::graph {

result<std::unique_ptr<user_scalar>> make_user_scalar(const user_function& of) {
  if (of.language == user_language::cpp)
    return make_native_scalar(of);
  return make_lua_scalar(of);
}

result<std::unique_ptr<user_table>> make_user_table(const user_function& of) {
  if (of.language == user_language::cpp)
    return make_native_table(of);
  return make_lua_table(of);
}

result<std::unique_ptr<user_aggregate>> make_user_aggregate(const user_function& of) {
  if (of.language == user_language::cpp)
    return make_native_aggregate(of);
  return make_lua_aggregate(of);
}

} // namespace headrace::graph
