#include "libtask/connector/file/file_format.hpp"

#include "libgraph/connector/abilities.hpp"
#include "libgraph/connector/option_set.hpp"

#include <string>
#include <utility>

namespace headrace::task {

std::string format_name(const graph::option_map& options, const graph::logical_type& type) {
  if (const auto named = options.find("format"); named != options.end())
    return named->second;
  const bool is_text =
      type.child_count() == 1 && type.child(0).physical() == graph::physical_type::string;
  return is_text ? "lines" : "csv";
}

result<file_format> choose_format(const graph::connector_registry& registry,
                                  const graph::option_map& options,
                                  const graph::logical_type& type) {
  file_format out{nullptr, false, options};
  const auto name = format_name(options, type);
  const auto own = graph::take_prefixed(out.others, name);
  out.has_changes = graph::is_changelog_format(name);
  HEADRACE_TRY(out.format, registry.create_format(name, own));
  return out;
}

} // namespace headrace::task
