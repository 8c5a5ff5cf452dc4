#include "libgraph/user_function/user_code.hpp"

#include "libgraph/user_function/lua_functions.hpp"

namespace headrace::graph {

result<std::unique_ptr<user_scalar>> make_user_scalar(const user_function& of) {
  return make_lua_scalar(of);
}

result<std::unique_ptr<user_table>> make_user_table(const user_function& of) {
  return make_lua_table(of);
}

result<std::unique_ptr<user_aggregate>> make_user_aggregate(const user_function& of) {
  return make_lua_aggregate(of);
}

} // namespace headrace::graph
