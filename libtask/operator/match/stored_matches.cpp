#include "libtask/operator/match/stored_matches.hpp"

#include "libtask/operator/match/match_bytes.hpp"
#include "libtask/operator/match/pattern_matches.hpp"
#include "libgraph/data/stream_element.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headrace::task {
namespace {

/// Of a long match the newest rows are told.
constexpr std::size_t told_rows_max = 64;
constexpr const char* name_in_errors = "begun";

/// The names of the pattern's variables, in its order: "PATTERN (A B{1,}) #…".
std::vector<std::string> variables_of(const stored_operator& of) {
  constexpr std::string_view begin = "PATTERN (";
  std::vector<std::string> out;
  for (const auto& part : of.query()) {
    if (!part.starts_with(begin))
      continue;
    const auto end = part.rfind(") ");
    std::string_view left = std::string_view(part).substr(0, end);
    left.remove_prefix(std::min(begin.size(), left.size()));
    while (!left.empty()) {
      const auto word = left.substr(0, left.find(' '));
      out.emplace_back(word.substr(0, word.find('{')));
      left.remove_prefix(std::min(word.size() + 1, left.size()));
    }
  }
  return out;
}

/// The columns of the rows are told by those that wait.
const state::state_description* find_waiting(const stored_operator& of) {
  const auto* waiting = of.find("waiting");
  return waiting != nullptr && state::is_bytes_of_parts(waiting->value_type) ? waiting : nullptr;
}

/// Rows that are there, each with its time; of one that is not the time alone.
result<stored_value> timed(const stored_rows& rows, const std::vector<std::int64_t>& times_ms,
                           const std::vector<byte_view>& encoded) {
  std::vector<byte_view> there;
  std::copy_if(encoded.begin(), encoded.end(), std::back_inserter(there),
               [](byte_view each) { return !each.empty(); });
  HEADRACE_TRY(auto read, rows.read(there));
  stored_value::list out;
  auto next = read.begin();
  for (std::size_t i = 0; i < encoded.size(); ++i) {
    stored_value::object each;
    add_member(each, "time", time_value(times_ms[i]));
    if (!encoded[i].empty())
      add_member(each, "row", std::move(*next++));
    out.push_back({std::move(each)});
  }
  return stored_value{std::move(out)};
}

/// One match: the variables of its rows, with the numbers of these.
stored_value read_match(const saved_matches& from, std::uint64_t newest,
                        const std::vector<std::string>& variables) {
  stored_value::list rows;
  auto at = newest;
  for (; at > 0 && rows.size() < told_rows_max; at = from.nodes[at - 1].parent) {
    const auto& node = from.nodes[at - 1];
    stored_value::object row;
    add_member(row,
               node.variable < variables.size() ? variables[node.variable]
                                                : std::to_string(node.variable),
               {static_cast<std::int64_t>(node.row)});
    rows.push_back({std::move(row)});
  }
  if (at > 0)
    rows.push_back({std::string("…")});
  std::reverse(rows.begin(), rows.end());
  return {std::move(rows)};
}

stored_value read_matches(const saved_matches& from, const saved_matches::ends& ends,
                          const std::vector<std::string>& variables) {
  stored_value::list out;
  for (const auto newest : ends)
    if (newest > 0) // else it has not begun
      out.push_back(read_match(from, newest, variables));
  return {std::move(out)};
}

} // namespace

stored_reader read_match_waiting(const stored_operator& /*of*/,
                                 const state::state_description& state) {
  return [rows = stored_rows(parts_in(state.value_type))](
             const stored_entry& entry) -> result<stored_reading> {
    std::vector<std::int64_t> times_ms;
    std::vector<byte_view> encoded;
    byte_reader in(entry.value);
    while (!in.at_end()) {
      HEADRACE_TRY(const auto each, read_match_row(in));
      times_ms.push_back(each.time_ms);
      encoded.push_back(each.row);
    }
    HEADRACE_TRY(auto read, timed(rows, times_ms, encoded));
    return stored_reading{{}, {}, std::move(read)};
  };
}

stored_reader read_begun_matches(const stored_operator& of,
                                 const state::state_description& /*state*/) {
  const auto* waiting = find_waiting(of);
  if (waiting == nullptr)
    return {};
  return [rows = stored_rows(parts_in(waiting->value_type)),
          variables = variables_of(of)](const stored_entry& entry) -> result<stored_reading> {
    begun_matches begun;
    HEADRACE_CHECK(read_begun(entry.value, begun));
    HEADRACE_TRY(auto read, timed(rows, begun.times_ms, begun.rows));
    byte_reader in(begun.matches);
    HEADRACE_TRY(const auto matches, saved_matches::read(in, begun.rows.size()));
    if (!in.at_end())
      return not_as_written(name_in_errors);
    stored_value::object out;
    if (begun.deadline_ms != graph::watermark::none)
      add_member(out, "deadline", time_value(begun.deadline_ms));
    add_member(out, "rows", std::move(read));
    add_member(out, "begun", read_matches(matches, matches.partials, variables));
    if (!matches.waiting.empty())
      add_member(out, "complete", read_matches(matches, matches.waiting, variables));
    return stored_reading{{}, {}, {std::move(out)}};
  };
}

} // namespace headrace::task
