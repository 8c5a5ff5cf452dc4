#include "libtask/operator/aggregate/stored_accumulators.hpp"

#include "libtask/operator/aggregate/builtin_aggregate.hpp"
#include "libtask/operator/window/stored_windows.hpp"
#include "libgraph/data/batch_builder.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headrace::task {
namespace {

using graph::aggregate_kind;
using graph::logical_type;

/// "SUM(price)", as the query tells a call.
struct told_aggregate {
  aggregate_kind kind = aggregate_kind::count;
  std::string text;
};

std::optional<told_aggregate> read_aggregate(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, aggregate_kind>, 8> kinds = {{
      {"COUNT(", aggregate_kind::count},
      {"SUM(", aggregate_kind::sum},
      {"MIN(", aggregate_kind::min},
      {"MAX(", aggregate_kind::max},
      {"MIN_BY(", aggregate_kind::min_by},
      {"MAX_BY(", aggregate_kind::max_by},
      {"FIRST(", aggregate_kind::first},
      {"LAST(", aggregate_kind::last},
  }};
  for (const auto& [begin, kind] : kinds)
    if (text.starts_with(begin) && text.ends_with(')'))
      return told_aggregate{kind, text == "COUNT()" ? "COUNT(*)" : std::string(text)};
  return std::nullopt;
}

/// The calls of "FIRST(k), COUNT(), SUM(a)"; none where the text is another's.
std::vector<told_aggregate> read_aggregates(std::string_view text) {
  std::vector<told_aggregate> out;
  while (!text.empty()) {
    const auto end = std::min(text.find("), "), text.size() - 1);
    const auto each = read_aggregate(text.substr(0, end + 1));
    if (!each)
      return {};
    out.push_back(*each);
    text.remove_prefix(std::min(end + 3, text.size()));
  }
  return out;
}

/// What a sum is shown as: it may be beyond the type of what is summed.
logical_type result_of(aggregate_kind kind, const logical_type& kept) {
  if (kind != aggregate_kind::sum)
    return kept.nullable();
  switch (kept.root()) {
  case graph::type_root::decimal:
    return logical_type::decimal(38, kept.scale());
  case graph::type_root::float_:
  case graph::type_root::double_:
    return logical_type::float64();
  default:
    return logical_type::bigint();
  }
}

/// The size of windows, of "TUMBLE of 60000 ms"; 0: it is not told.
std::int64_t window_size_ms(const std::vector<std::string>& query) {
  constexpr std::string_view word = " of ";
  for (const auto& part : query) {
    if (!part.starts_with("TUMBLE") && !part.starts_with("HOP"))
      continue;
    const auto at = part.find(word);
    std::int64_t out = 0;
    if (at != std::string::npos &&
        std::from_chars(part.data() + at + word.size(), part.data() + part.size(), out).ec ==
            std::errc())
      return out;
  }
  return 0;
}

struct accumulator_reader {
  std::shared_ptr<builtin_aggregate> function;
  std::vector<std::string> names;
  graph::row_type_ptr results;
  bool is_of_windows = false;
  std::int64_t size_ms = 0;

  result<stored_reading> operator()(const stored_entry& entry) const {
    if (!function->is_accumulator(entry.value))
      return not_as_written("accumulators");
    graph::batch_builder built(results);
    const graph::record_batch no_keys;
    if (function->fixed_bytes() > 0) {
      const auto* at = reinterpret_cast<const std::byte*>(entry.value.data());
      function->result_fixed(no_keys, {&at, 1}, built);
    } else {
      function->result_variable(no_keys, 0, entry.value, built);
    }
    const auto batch = built.finish();
    stored_value::object out;
    for (std::size_t i = 0; i < names.size(); ++i)
      add_member(out, names[i], {stored_value::cell{batch.columns()[i], 0}});
    stored_reading read{{}, {}, {std::move(out)}};
    if (is_of_windows && size_ms > 0)
      read.space = window_between(entry.space, entry.space + size_ms);
    return read;
  }
};

/// Leaves out what takes no room: the columns of the key, which FIRST gives.
std::vector<told_aggregate> without_keys(std::vector<told_aggregate> calls, std::size_t kept) {
  std::erase_if(calls, [&, left = calls.size()](const told_aggregate& each) mutable {
    const bool goes = left > kept && each.kind == aggregate_kind::first;
    left -= goes ? 1 : 0;
    return goes;
  });
  return calls;
}

} // namespace

stored_reader read_accumulators(const stored_operator& of, const state::state_description& state) {
  const auto query = of.query();
  const auto& kept = state.value_type.fields();
  if (query.empty() || kept.empty())
    return {};
  auto told = without_keys(read_aggregates(query.back()), kept.size());
  const bool is_by = told.size() == 1 && (told[0].kind == aggregate_kind::min_by ||
                                          told[0].kind == aggregate_kind::max_by);
  if (told.empty() || (!is_by && told.size() != kept.size()))
    return {};
  accumulator_reader out;
  std::vector<graph::aggregate_call> calls;
  std::vector<logical_type::field> results;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const auto kind = is_by ? aggregate_kind::first : told[i].kind;
    out.names.push_back(!is_by ? told[i].text : i == 0 ? told[0].text : kept[i].name);
    results.push_back({out.names.back(), result_of(kind, kept[i].type), {}});
    if (!is_by || i == 0) // a call by a column gives whole rows, of which that is the first here
      calls.push_back({told[i].kind, static_cast<std::int32_t>(i)});
  }
  const auto result_type = logical_type::row(std::move(results)).not_null();
  auto made = builtin_aggregate::make(calls, state.value_type, result_type, {});
  if (!made)
    return {};
  out.function.reset(static_cast<builtin_aggregate*>(made->release()));
  if (state.layout.is_variable() != (out.function->fixed_bytes() == 0))
    return {};
  out.results = std::make_shared<const logical_type>(result_type);
  out.is_of_windows = state.name != "aggregates";
  out.size_ms = window_size_ms(query);
  return out;
}

} // namespace headrace::task
