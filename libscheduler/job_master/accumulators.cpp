#include "libscheduler/job_master/accumulators.hpp"

#include "libgraph/types/value_text.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace headrace::scheduler {
namespace {

using graph::metric_kind;

const char* class_of(metric_kind kind) {
  static constexpr std::array names = {
      "LongCounter", "DoubleCounter", "LongMinimum",        "DoubleMinimum",
      "LongMaximum", "DoubleMaximum", "AverageAccumulator",
  };
  return names.at(static_cast<std::size_t>(kind) - static_cast<std::size_t>(metric_kind::long_sum));
}

void merge(graph::user_figure& into, const graph::user_figure& from) {
  if (from.count == 0)
    return;
  const bool is_first = into.count == 0;
  into.count += from.count;
  switch (into.kind) {
  case metric_kind::long_min:
    into.integer = is_first ? from.integer : std::min(into.integer, from.integer);
    break;
  case metric_kind::long_max:
    into.integer = is_first ? from.integer : std::max(into.integer, from.integer);
    break;
  case metric_kind::double_min:
    into.real = is_first ? from.real : std::min(into.real, from.real);
    break;
  case metric_kind::double_max:
    into.real = is_first ? from.real : std::max(into.real, from.real);
    break;
  default: // sums
    into.integer = static_cast<std::int64_t>(static_cast<std::uint64_t>(into.integer) +
                                             static_cast<std::uint64_t>(from.integer));
    into.real += from.real;
  }
}

std::string text_of(const graph::user_figure& of) {
  const bool is_sum = of.kind == metric_kind::long_sum || of.kind == metric_kind::double_sum;
  if (of.count == 0 && !is_sum)
    return "null";
  std::string out;
  if (of.kind == metric_kind::long_sum || of.kind == metric_kind::long_min ||
      of.kind == metric_kind::long_max)
    return std::to_string(of.integer);
  graph::append_double(
      of.kind == metric_kind::average ? of.real / static_cast<double>(of.count) : of.real, out);
  return out;
}

} // namespace

std::vector<accumulator_result>
merge_accumulators(const std::vector<const graph::user_figure*>& reported) {
  struct merged {
    graph::user_figure sum;
    bool is_mixed = false;
  };
  std::map<std::string, merged> by_name;
  for (const auto* each : reported) {
    if (!graph::is_accumulator(each->kind))
      continue;
    auto [at, is_new] = by_name.try_emplace(each->name);
    if (is_new)
      at->second.sum.kind = each->kind;
    else if (at->second.sum.kind != each->kind)
      at->second.is_mixed = true;
    merge(at->second.sum, *each);
  }
  std::vector<accumulator_result> out;
  for (const auto& [name, of] : by_name) {
    if (of.is_mixed)
      out.push_back({name, "none", "operators have accumulators of several kinds by this name"});
    else
      out.push_back({name, class_of(of.sum.kind), text_of(of.sum)});
  }
  return out;
}

} // namespace headrace::scheduler
