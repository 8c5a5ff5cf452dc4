#include "libgraph/sql/translate/check_constants.hpp"

#include "libgraph/expression/program.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace headrace::sql {
namespace {

using graph::expression;
using graph::function_call;

/// Of these, only the first argument is computed for every row.
bool is_lazy(std::string_view function) {
  constexpr std::array lazy{std::string_view("AND"),      std::string_view("OR"),
                            std::string_view("CASE"),     std::string_view("IF"),
                            std::string_view("COALESCE"), std::string_view("IFNULL")};
  return std::find(lazy.begin(), lazy.end(), function) != lazy.end();
}

/// The node and what it uses.
expression part_of(const expression& whole, std::size_t root) {
  std::vector<bool> is_used(root + 1, false);
  is_used[root] = true;
  for (auto i = root + 1; i-- > 0;)
    if (const auto* call = std::get_if<function_call>(&whole.nodes[i].form);
        call != nullptr && is_used[i])
      for (const auto each : call->arguments)
        is_used[each] = true;
  expression out;
  std::vector<std::uint32_t> places(root + 1, 0);
  for (std::size_t i = 0; i <= root; ++i) {
    if (!is_used[i])
      continue;
    auto node = whole.nodes[i];
    if (auto* call = std::get_if<function_call>(&node.form))
      for (auto& each : call->arguments)
        each = places[each];
    places[i] = static_cast<std::uint32_t>(out.nodes.size());
    out.nodes.push_back(std::move(node));
  }
  return out;
}

} // namespace

status check_constants(const expression& checked, const std::string& time_zone) {
  if (checked.is_empty())
    return {};
  graph::program_settings settings;
  settings.time_zone = time_zone;
  std::vector<bool> is_computed(checked.nodes.size(), false); ///< for every row
  is_computed.back() = true;
  for (auto i = checked.nodes.size(); i-- > 0;) {
    const auto* call = std::get_if<function_call>(&checked.nodes[i].form);
    if (call == nullptr || !is_computed[i] || call->function == "TRY_CAST")
      continue;
    if (const auto part = part_of(checked, i); graph::is_constant(part)) {
      if (auto value = graph::evaluate_constant(part, settings); !value)
        return std::move(value).error();
      continue;
    }
    const auto count = is_lazy(call->function) ? std::min<std::size_t>(1, call->arguments.size())
                                               : call->arguments.size();
    for (std::size_t k = 0; k < count; ++k)
      is_computed[call->arguments[k]] = true;
  }
  return {};
}

} // namespace headrace::sql
