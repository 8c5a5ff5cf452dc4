#include "libstate/timer/timer_service.hpp"

#include "libstate/timer/bucketed_timers.hpp"

namespace headrace::state {

result<std::unique_ptr<timer_service>>
open_timer_service(keyed_backend& backend, graph::time_domain domain, std::string_view name) {
  state_description wanted;
  wanted.name =
      std::string(name) + (domain == graph::time_domain::event ? ".event" : ".processing");
  wanted.kind = table_kind::timers;
  wanted.value_type = graph::logical_type::array(graph::logical_type::bigint().not_null());
  wanted.entry_key_type = graph::logical_type::null();
  wanted.layout = value_layout::variable();
  HEADRACE_TRY(auto* const table, backend.open_table(wanted));
  auto made = std::make_unique<bucketed_timers>(*table, backend.key(), backend.max_parallelism());
  HEADRACE_CHECK(made->open());
  std::unique_ptr<timer_service> out = std::move(made);
  return out;
}

} // namespace headrace::state
