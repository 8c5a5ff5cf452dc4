#include "libtask/connector/nexmark/nexmark_source.hpp"

#include "libtask/connector/nexmark/nexmark_generator.hpp"

#include <utility>

namespace headrace::task {

result<std::unique_ptr<graph::source>>
make_nexmark_source(const graph::connector_registry& /*registry*/, const graph::option_map& options,
                    graph::row_type_ptr type) {
  HEADRACE_TRY(const auto settings, nexmark_settings::parse(options));
  HEADRACE_CHECK(nexmark_generator::create(nullptr, *type)); // told when the job is made
  graph::generator_options how;
  if (settings.events > 0)
    how.rows = settings.events;
  how.rows_per_second = settings.is_paced ? settings.rate : 0;
  auto make = [settings](const graph::reader_context&, const graph::row_type_ptr& produced) {
    return nexmark_generator::create(std::make_shared<const nexmark_events>(settings), *produced);
  };
  return std::unique_ptr<graph::source>(
      std::make_unique<graph::generator_source>(std::move(type), how, std::move(make), true));
}

} // namespace headrace::task
