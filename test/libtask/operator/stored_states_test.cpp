#include "libtask/operator/stored_states.hpp"

#include "test/support/seed.hpp"
#include "libgraph/data/batch_builder.hpp"
#include "libgraph/data/key_codec.hpp"
#include "libgraph/data/order_key.hpp"
#include "libgraph/data/row_format.hpp"
#include "libactors/base/random.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

// The values are written here as the headers of the operators describe their forms.
namespace headrace::task {
namespace {

using graph::logical_type;
using fields = std::vector<logical_type::field>;

std::string text_of(const stored_value& value);

struct text_writer {
  std::string operator()(std::monostate /*none*/) const { return "null"; }
  std::string operator()(bool flag) const { return flag ? "true" : "false"; }
  std::string operator()(std::int64_t number) const { return std::to_string(number); }
  std::string operator()(const std::string& text) const { return text; }
  std::string operator()(const stored_value::raw& raw) const {
    return std::to_string(raw.bytes.size()) + " bytes";
  }
  std::string operator()(const stored_value::cell& cell) const {
    std::string out;
    graph::format_value(*cell.column, cell.row, out);
    return out;
  }
  std::string operator()(const stored_value::list& list) const {
    std::string out;
    for (const auto& each : list)
      out += (out.empty() ? "" : ", ") + text_of(each);
    return "[" + out + "]";
  }
  std::string operator()(const stored_value::object& object) const {
    std::string out;
    for (const auto& [name, value] : object)
      out += (out.empty() ? "" : ", ") + name + "=" + text_of(value);
    return "{" + out + "}";
  }
};

std::string text_of(const stored_value& value) { return std::visit(text_writer(), value.content); }

/// "window={…} entry …: value", of what is there.
std::string text_of(const result<stored_reading>& read) {
  if (!read)
    return "error: " + read.error().message;
  std::string out;
  if (read->space)
    out += read->space->name + "=" + text_of(read->space->value) + ": ";
  if (read->entry_key)
    out += "entry " + text_of(*read->entry_key) + ": ";
  return out + text_of(read->value);
}

const fields& columns() {
  static const fields out = {{"id", logical_type::bigint(), {}}, {"s", logical_type::string(), {}}};
  return out;
}

/// A row of `columns`. @param text  null: NULL
byte_string row_of(std::int64_t id, const char* text) {
  graph::batch_builder built(
      std::make_shared<const logical_type>(logical_type::row(columns()).not_null()));
  built.column(0).append(id);
  if (text == nullptr)
    built.column(1).append_null();
  else
    built.column(1).append_string(text);
  built.end_row();
  graph::encoded_keys out;
  graph::encode_keys(built.finish(), std::array{0, 1}, out);
  return byte_string(out[0]);
}

/// What a row is ordered by: its id.
byte_string key_of(std::int64_t id, bool is_descending) {
  graph::batch_builder built(
      std::make_shared<const logical_type>(logical_type::row(columns()).not_null()));
  built.column(0).append(id);
  built.column(1).append_null();
  built.end_row();
  const std::array order{graph::order_column{0, is_descending, false}};
  graph::encoded_keys out;
  graph::encode_order_keys(built.finish(), order, out);
  return byte_string(out[0]);
}

struct writer {
  byte_string bytes{};
  template <class T>
  writer& put(T value) {
    byte_writer(bytes).put(value);
    return *this;
  }
  writer& row(byte_view row) {
    byte_writer(bytes).put_bytes(row);
    return *this;
  }
  writer& raw(byte_view raw) {
    bytes += raw;
    return *this;
  }
};

/// Rows with their keys as a list of ranks has them.
byte_string list_of(std::int64_t written_ms,
                    const std::vector<std::pair<byte_string, byte_string>>& entries) {
  writer out;
  out.put(written_ms).put(static_cast<std::uint32_t>(entries.size()));
  std::uint32_t end = 0;
  for (const auto& [key, row] : entries)
    out.put(end += static_cast<std::uint32_t>(4 + key.size() + row.size()));
  for (const auto& [key, row] : entries)
    out.put(static_cast<std::uint32_t>(key.size())).raw(key).raw(row);
  return std::move(out.bytes);
}

state::state_description described(std::string name, logical_type type, std::size_t bytes = 0,
                                   state::table_kind kind = state::table_kind::operator_rows) {
  state::state_description out;
  out.name = std::move(name);
  out.kind = kind;
  out.value_type = std::move(type);
  out.entry_key_type = logical_type::null();
  out.layout = {bytes};
  return out;
}
state::state_description of_parts(std::string name, fields parts, std::size_t bytes = 0,
                                  state::table_kind kind = state::table_kind::operator_rows) {
  return described(std::move(name), state::bytes_of(std::move(parts)), bytes, kind);
}
state::state_description query_of(const std::vector<std::string>& words) {
  fields parts;
  for (const auto& each : words)
    parts.push_back({each, logical_type::boolean().not_null(), {}});
  return of_parts("query", std::move(parts));
}
fields with(fields more) {
  auto out = columns();
  out.insert(out.end(), more.begin(), more.end());
  return out;
}
fields ranked(const char* direction) {
  return with(
      {{std::string("ordered by id ") + direction + " NULLS LAST", logical_type::bigint(), {}},
       {"ranks 1 to 2", logical_type::bigint(), {}}});
}

/// A value of the first of an operator's states, and what it reads as.
struct stored_case {
  std::vector<state::state_description> states;
  stored_entry entry;
  byte_string value;
  std::string expected;

  std::string read(byte_view bytes) const {
    const auto reader = find_stored_reader(states.front(), states);
    if (!reader)
      return "nothing reads it";
    auto damaged = entry;
    damaged.value = bytes;
    return text_of(reader(damaged));
  }
};

std::vector<stored_case> joins() {
  const auto type = logical_type::row(columns()).not_null();
  const auto both = logical_type::row(with({{"$matches", logical_type::integer().not_null(), {}},
                                            {"$written", logical_type::bigint().not_null(), {}}}))
                        .not_null();
  const auto plain = writer().row(row_of(1, "a")).row(row_of(2, nullptr)).bytes;
  const auto first = writer().put(std::uint32_t{0}).raw(plain).bytes;
  return {
      {{described("left-rows", type)}, {}, first, "[{id=1, s=a}, {id=2, s=null}]"},
      // Of rows that are taken back none lies in chunks.
      {{described("right-rows", type)}, {}, plain, "[{id=1, s=a}, {id=2, s=null}]"},
      {{described("left-rows", type)},
       {3, {}, {}},
       plain,
       "chunk=3: [{id=1, s=a}, {id=2, s=null}]"},
      {{described("left-rows", both)},
       {},
       writer().put(std::int64_t{1500}).put(std::uint32_t{7}).row(row_of(1, "a")).bytes,
       "[{written=1970-01-01T00:00:01.5, matches=7, row={id=1, s=a}}]"},
      {{described("left-rows", type), query_of({"by a = b", "of windows, t and t"})},
       {60'000, {}, {}},
       plain,
       "window={end=1970-01-01T00:01:00}: [{id=1, s=a}, {id=2, s=null}]"},
      {{described("left-rows", type), query_of({"by a = b", "-5 to 5 ms apart, t and t"})},
       {4, {}, {}},
       plain,
       "[{id=1, s=a}, {id=2, s=null}]"},
      {{of_parts("versions", columns())},
       {},
       writer().put(std::int64_t{1000}).put(std::uint8_t{3}).row(row_of(1, "a")).bytes,
       "[{time=1970-01-01T00:00:01, op=-D, row={id=1, s=a}}]"},
      {{of_parts("waiting", columns()), of_parts("versions", columns())},
       {},
       writer().put(std::int64_t{1000}).put(std::uint8_t{0}).row(row_of(1, "a")).bytes,
       "[{time=1970-01-01T00:00:01, op=+I, row={id=1, s=a}}]"},
  };
}

std::vector<stored_case> ranks() {
  const auto list =
      list_of(0, {{key_of(2, true), row_of(2, "b")}, {key_of(1, true), row_of(1, "a")}});
  const auto top = of_parts("top", ranked("DESC"), 0, state::table_kind::value);
  const auto bytes = logical_type::bytes();
  const auto piece = writer().put(std::uint32_t{5}).bytes;
  static const auto number = piece;
  return {
      {{of_parts("ranks", ranked("DESC"))}, {}, list, "[{id=2, s=b}, {id=1, s=a}]"},
      {{of_parts("ranks", ranked("DESC"))},
       {},
       list_of(1000, {{key_of(2, true), row_of(2, "b")}}),
       "{written=1970-01-01T00:00:01, rows=[{id=2, s=b}]}"},
      {{of_parts("window-ranks", ranked("DESC"))},
       {60'000, {}, {}},
       list,
       "window={end=1970-01-01T00:01:00}: [{id=2, s=b}, {id=1, s=a}]"},
      {{of_parts("bests", ranked("ASC"))},
       {},
       list_of(0, {{key_of(-7, false), {}}}),
       "{ordered by={id=-7}}"},
      {{of_parts("counts", {{"ranks 1 to 2", logical_type::bigint(), {}}})},
       {},
       writer().put(std::int64_t{0}).put(std::uint32_t{2}).bytes,
       "{count=2}"},
      {{top}, {}, list, "[{id=2, s=b}, {id=1, s=a}]"},
      {{described("others-pieces", bytes, 0, state::table_kind::map), top},
       {0, number, {}},
       list,
       "entry 5: [{id=2, s=b}, {id=1, s=a}]"},
      {{described("others-directory", bytes, 0, state::table_kind::value), top},
       {},
       list_of(9, {{{}, piece}, {key_of(3, true), piece}}),
       "[{piece=5}, {piece=5, from={id=3}}]"},
      {{of_parts("window-rows", columns())},
       {60'000, {}, {}},
       writer()
           .put(static_cast<std::uint32_t>(1))
           .put(static_cast<std::uint32_t>(row_of(1, "a").size()))
           .raw("k")
           .raw(row_of(1, "a"))
           .bytes,
       "window={end=1970-01-01T00:01:00}: [{id=1, s=a}]"},
  };
}

/// A count and a sum of integers: the rows, when they were written, 8 bytes, 8 and 16.
writer group_of(std::int64_t rows, std::int64_t count, std::int64_t sum) {
  writer out;
  out.put(rows)
      .put(std::int64_t{0})
      .put(count)
      .put(count)
      .put(sum)
      .put(std::int64_t{sum < 0 ? -1 : 0});
  return out;
}
fields calls() {
  return {{"COUNT(*)", logical_type::bigint(), {}}, {"SUM(INT)", logical_type::integer(), {}}};
}

std::vector<stored_case> aggregates() {
  auto wider = calls();
  wider.push_back({"SUM(INT)", logical_type::integer(), {}});
  wider.push_back({"MIN(BIGINT)", logical_type::bigint(), {}});
  const auto seen = writer().put(std::uint64_t{2}).bytes;
  return {
      {{of_parts("groups", calls(), 48)},
       {},
       group_of(3, 2, -11).bytes,
       "{rows=3, COUNT(*)=2, SUM(INT)=-11}"},
      {{of_parts("groups", calls(), 56)},
       {60'000, {}, {}},
       group_of(0, 2, 11).put(std::int64_t{0}).bytes,
       "window={start=1970-01-01T00:00:00, end=1970-01-01T00:01:00}: {COUNT(*)=2, SUM(INT)=11}"},
      // Rows may be taken back: MIN lies elsewhere.
      {{of_parts("groups", wider, 72)},
       {},
       group_of(3, 2, 11).put(std::int64_t{1}).put(std::int64_t{5}).put(std::int64_t{0}).bytes,
       "{rows=3, COUNT(*)=2, SUM(INT)=11, SUM(INT) 2=5, MIN(BIGINT)={state=3-MIN-BIGINT}}"},
      {{of_parts("groups", wider, 96)},
       {},
       group_of(3, 2, 11)
           .put(std::int64_t{0})
           .put(std::int64_t{0})
           .put(std::int64_t{0})
           .put(std::int64_t{1})
           .put(std::int64_t{-4})
           .put(std::int64_t{-1})
           .bytes,
       "{rows=3, COUNT(*)=2, SUM(INT)=11, SUM(INT) 2=null, MIN(BIGINT)=-4}"},
      {{of_parts("distinct-0",
                 {{"aggregate 0", logical_type::boolean(), {}},
                  {"aggregate 1", logical_type::boolean(), {}}},
                 8),
        of_parts("groups", calls(), 48)},
       {},
       seen,
       "{COUNT(*)=false, SUM(INT)=true}"},
      {{of_parts("distinct-1", {{"aggregate 1", logical_type::bigint(), {}}}, 8),
        of_parts("groups", calls(), 48)},
       {},
       seen,
       "{SUM(INT)=2}"},
      {{of_parts("sessions", calls())},
       {},
       writer().put(std::int64_t{0}).put(std::int64_t{1000}).raw(group_of(0, 2, 11).bytes).bytes,
       "[{start=1970-01-01T00:00:00, end=1970-01-01T00:00:01, COUNT(*)=2, SUM(INT)=11}]"},
      {{of_parts("sessions",
                 {{"number", logical_type::bigint(), {}}, {"count", logical_type::bigint(), {}}})},
       {},
       writer()
           .put(std::int64_t{0})
           .put(std::int64_t{1000})
           .put(std::int64_t{500})
           .put(std::int64_t{3})
           .bytes,
       "[{start=1970-01-01T00:00:00, end=1970-01-01T00:00:01, session=1970-01-01T00:00:00.5, "
       "rows=3}]"},
      {{of_parts("rows", columns()), of_parts("sessions", columns())},
       {500, {}, {}},
       writer().row(row_of(1, "a")).bytes,
       "session=1970-01-01T00:00:00.5: [{id=1, s=a}]"},
  };
}

/// Built-in aggregates: flags, a word a value, then texts.
std::vector<stored_case> accumulators() {
  const auto type = logical_type::row({{"value0", logical_type::bigint(), {}},
                                       {"value1", logical_type::integer(), {}},
                                       {"value2", logical_type::string(), {}}});
  const auto query = query_of({"by k", "TUMBLE of 60000 ms", "FIRST(k), COUNT(), SUM(v), MAX(s)"});
  const auto value =
      writer().put(std::uint64_t{6}).put(std::int64_t{3}).put(std::int64_t{-11}).row("mill").bytes;
  return {{{described("windows", type), query},
           {60'000, {}, {}},
           value,
           "window={start=1970-01-01T00:01:00, end=1970-01-01T00:02:00}: {COUNT(*)=3, SUM(v)=-11, "
           "MAX(s)=mill}"}};
}

std::vector<stored_case> timed() {
  const auto waiting = of_parts("waiting", columns());
  const auto begun = described("begun", logical_type::bytes());
  const auto kept = writer().put(std::int64_t{1000}).row(row_of(1, "a")).bytes;
  const auto carried = of_parts("carried", with(calls()));
  auto group =
      writer().put(std::int64_t{4}).put(std::int64_t{3}).raw(group_of(0, 2, 11).bytes).raw(kept);
  // One row; two nodes, the second behind the first; one match goes on, another is to begin.
  writer matches;
  for (const int each : {2, 0, 0, 0, 0, 1, 1, 2, 0, 0, 1, 2, 0})
    matches.put(static_cast<std::uint8_t>(each));
  return {
      {{waiting, carried}, {1, {}, {}}, kept, "[{time=1970-01-01T00:00:01, row={id=1, s=a}}]"},
      {{carried, waiting, query_of({"by k", "ROWS UNBOUNDED PRECEDING, ordered by t"})},
       {},
       group.bytes,
       "{count=4, COUNT(*)=2, SUM(INT)=11, rows=[{time=1970-01-01T00:00:01, row={id=1, s=a}}]}"},
      {{carried, waiting, query_of({"by k", "ROWS 5 PRECEDING, ordered by t"})},
       {},
       group.bytes,
       "{count=4, rows=[{time=1970-01-01T00:00:01, row={id=1, s=a}}]}"},
      {{waiting, begun},
       {},
       writer()
           .put(std::int64_t{1000})
           .row("k")
           .row(row_of(1, "a"))
           .put(std::int64_t{2000})
           .row({})
           .row({})
           .bytes,
       "[{time=1970-01-01T00:00:01, row={id=1, s=a}}, {time=1970-01-01T00:00:02}]"},
      {{begun, waiting, query_of({"by k", "PATTERN (A B{1,}) #0123456789abcdef"})},
       {},
       writer()
           .put(std::uint64_t{7})
           .put(std::int64_t{5000})
           .put(std::uint8_t{1})
           .raw(kept)
           .raw(matches.bytes)
           .bytes,
       "{deadline=1970-01-01T00:00:05, rows=[{time=1970-01-01T00:00:01, row={id=1, s=a}}], "
       "begun=[[{A=0}, {B=0}]]}"},
  };
}

std::vector<stored_case> all_cases() {
  std::vector<stored_case> out;
  for (auto* make : {joins, ranks, aggregates, accumulators, timed})
    for (auto& each : make())
      out.push_back(std::move(each));
  return out;
}

} // namespace

TEST_SUITE("task/operator/stored_states") {
TEST_CASE("what an operator has stored is read as it was written") {
  for (const auto& each : all_cases()) {
    CAPTURE(each.states.front().name);
    CHECK(each.read(each.value) == each.expected);
  }
}

TEST_CASE("values that were cut off or changed are read as something else, or refused") {
  const auto random = make_seeded_random(testing::seed());
  for (const auto& each : all_cases()) {
    CAPTURE(each.states.front().name);
    for (std::size_t size = 0; size < each.value.size(); ++size)
      each.read(byte_view(each.value).substr(0, size));
    for (int round = 0; round < 2000; ++round) {
      auto damaged = each.value;
      for (auto flips = 1 + random->below(3); flips > 0; --flips)
        damaged[random->below(damaged.size())] = static_cast<char>(random->below(256));
      const auto told = each.read(damaged);
      CHECK(!told.empty());
    }
    const byte_string none(std::size_t{1} << 12U, '\xFF');
    CHECK(each.read(none) != each.expected);
  }
}

TEST_CASE("a value of a function is none of these") {
  const std::vector<state::state_description> ranks = {
      described("ranks", logical_type::bigint(), 0, state::table_kind::value)};
  CHECK(!find_stored_reader(ranks.front(), ranks));

  const std::vector<state::state_description> windows = {
      described("windows", logical_type::row({{"value0", logical_type::bigint(), {}}}), 16)};
  CHECK_MESSAGE(!find_stored_reader(windows.front(), windows), "no query tells what it is of");
}

TEST_CASE("a sort of windows that an older release stored tells no columns") {
  const std::vector<state::state_description> stored = {
      described("window-rows", logical_type::bytes())};
  CHECK(!find_stored_reader(stored.front(), stored));
  CHECK(state::check_compatible(stored.front(), of_parts("window-rows", columns())).has_value());
}
} // TEST_SUITE("task/operator/stored_states")

} // namespace headrace::task
