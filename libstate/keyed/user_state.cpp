#include "libstate/keyed/user_state.hpp"

namespace headrace::state {

state_description describe_user_state(const graph::state_descriptor& declared, table_kind kind) {
  state_description out;
  out.name = declared.name;
  out.kind = kind;
  out.value_type = declared.value_type;
  out.entry_key_type = kind == table_kind::map ? declared.key_type : graph::logical_type::null();
  out.layout = value_layout::variable();
  out.ttl_ms = declared.ttl_ms;
  return out;
}

error opened_otherwise(const std::string& name) {
  return {errc::incompatible_state,
          "state was opened before, otherwise: `" + name + "`; a state has one type and one TTL"};
}

error no_current_key() {
  return {errc::user_function_failed,
          "keyed state is used where there is no key: for a row that is "
          "broadcast, use apply_to_keyed_state"};
}

} // namespace headrace::state
