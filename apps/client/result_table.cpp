#include "apps/client/result_table.hpp"

#include "apps/client/text_table.hpp"
#include "libgraph/data/batch_builder.hpp"
#include "libgraph/data/row_format.hpp"
#include "libgraph/expression/program.hpp"
#include "libgraph/kernel/compare.hpp"

#include <algorithm>
#include <numeric>

namespace headrace::client {
namespace {

/// Rows that may be held though they were taken back.
constexpr std::size_t slack_rows = 1U << 16U;

/// A column as texts. Types that no cast is for are shown as rows are.
/// As a literal of SQL.
void append_bytes(std::string_view bytes, std::string& out) {
  constexpr std::string_view digits = "0123456789abcdef";
  out += "x'";
  for (const char each : bytes) {
    const auto byte = static_cast<unsigned char>(each);
    out += digits[byte >> 4U];
    out += digits[byte & 15U];
  }
  out += '\'';
}

result<graph::column_ptr> texts_of(const graph::record_batch& rows, std::size_t column,
                                   const std::string& time_zone) {
  const auto& from = rows.at(column).type();
  const auto text = graph::logical_type::string();
  auto cast = graph::make_call("CAST", from.is_nullable() ? text : text.not_null(),
                               {graph::make_column(static_cast<std::uint32_t>(column), from)});
  const auto type = std::make_shared<const graph::logical_type>(
      graph::logical_type::row({{"text", cast.type(), {}}}).not_null());
  const bool is_bytes =
      from.root() == graph::type_root::binary || from.root() == graph::type_root::varbinary;
  if (!is_bytes) {
    auto program = graph::expression_program::compile(*rows.type(), {}, std::span(&cast, 1),
                                                      {time_zone, nullptr});
    if (program) {
      HEADRACE_TRY(const auto made, program->run(rows, type, {}));
      return made.column_at(0);
    }
  }
  graph::batch_builder out(type);
  std::string shown;
  for (std::size_t i = 0; i < rows.row_count(); ++i) {
    shown.clear();
    if (is_bytes)
      append_bytes(rows.at(column).is_null(i) ? std::string_view() : rows.at(column).string_at(i),
                   shown);
    else
      graph::format_value(rows.at(column), i, shown);
    out.column(0).append_string(shown);
    out.end_row();
  }
  return out.finish().column_at(0);
}

std::string csv_field(std::string_view text) {
  if (!text.empty() && text.find_first_of(",\"\r\n") == text.npos)
    return std::string(text);
  std::string out = "\"";
  for (const char letter : text) {
    out += letter;
    if (letter == '"')
      out += letter;
  }
  return out + '"';
}

} // namespace

std::string rows_as_table(const std::vector<std::string>& names,
                          const std::vector<text_row>& rows) {
  std::vector<std::vector<std::string>> lines{names};
  for (const auto& row : rows) {
    lines.emplace_back();
    for (const auto& each : row)
      lines.back().push_back(each.value_or("<NULL>"));
  }
  return text_table(lines);
}

std::string rows_as_csv(const std::vector<std::string>& names, const std::vector<text_row>& rows) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i)
    out += (i > 0 ? "," : "") + csv_field(names[i]);
  out += '\n';
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      out += (i > 0 ? "," : "") + (row[i] ? csv_field(*row[i]) : std::string());
    out += '\n';
  }
  return out;
}

void result_table::take(const graph::record_batch& rows) {
  if (rows.is_empty())
    return;
  const auto number = static_cast<std::uint32_t>(batches_.size());
  batches_.push_back(rows);
  held_rows_ += rows.size();
  const auto* kinds = rows.kinds();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = rows.row_at(i);
    const auto kind = kinds == nullptr ? graph::row_kind::insert : kinds[row];
    const bool is_update = kind == graph::row_kind::update_before && i + 1 < rows.size() &&
                           kinds[rows.row_at(i + 1)] == graph::row_kind::update_after;
    if (is_update)
      replace(rows, ++i);
    else if (kind == graph::row_kind::insert || kind == graph::row_kind::update_after)
      add({number, row});
    else
      remove(rows, i);
  }
  if (held_rows_ > 2 * live_.size() + slack_rows)
    compact();
}

std::string result_table::key_of(const place& where) const {
  if (shown_.key)
    return values_of(where, *shown_.key);
  std::vector<std::size_t> all(batches_[where.batch].column_count());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return values_of(where, all);
}

std::string result_table::values_of(const place& where,
                                    const std::vector<std::size_t>& columns) const {
  std::string out;
  for (const auto each : columns) {
    const auto& column = batches_[where.batch].at(each);
    graph::format_value(column, where.row, out);
    out += column.is_null(where.row) ? '\1' : '\0';
  }
  return out;
}

bool result_table::are_equal(const place& one, const place& other) const {
  std::vector<std::size_t> all(batches_[one.batch].column_count());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return values_of(one, all) == values_of(other, all);
}

void result_table::add(const place& where) {
  live_.push_back(where);
  if (is_indexed_)
    index_.emplace(key_of(where), live_.size() - 1);
}

void result_table::begin_index() {
  is_indexed_ = true;
  for (std::size_t i = 0; i < live_.size(); ++i)
    index_.emplace(key_of(live_[i]), i);
}

std::optional<std::size_t> result_table::take_back(const graph::record_batch& rows,
                                                   std::size_t index) {
  if (!is_indexed_)
    begin_index();
  const place where{static_cast<std::uint32_t>(batches_.size() - 1), rows.row_at(index)};
  const auto [first, behind] = index_.equal_range(key_of(where));
  if (first == behind) {
    ++unmatched_;
    return std::nullopt;
  }
  // Of a key the very row, where it is there: a new one may have come before the old one goes.
  auto found = first;
  if (shown_.key) {
    const auto same = std::find_if(
        first, behind, [&](const auto& each) { return are_equal(live_[each.second], where); });
    found = same != behind ? same : first;
  }
  const auto at = found->second;
  index_.erase(found);
  return at;
}

void result_table::replace(const graph::record_batch& rows, std::size_t index) {
  const place where{static_cast<std::uint32_t>(batches_.size() - 1), rows.row_at(index)};
  const auto at = take_back(rows, index - 1);
  if (!at) {
    add(where);
    return;
  }
  live_[*at] = where;
  index_.emplace(key_of(where), *at);
}

void result_table::remove(const graph::record_batch& rows, std::size_t index) {
  const auto taken = take_back(rows, index);
  if (!taken)
    return;
  const auto at = *taken;
  const auto last = live_.size() - 1;
  if (at != last) {
    // The last one takes its place.
    const auto [begin, end] = index_.equal_range(key_of(live_[last]));
    for (auto each = begin; each != end; ++each)
      if (each->second == last)
        each->second = at;
    live_[at] = live_[last];
  }
  live_.pop_back();
}

void result_table::compact() {
  graph::batch_builder kept(batches_.front().type());
  for (const auto& each : live_) {
    const auto& from = batches_[each.batch];
    for (std::size_t i = 0; i < from.column_count(); ++i)
      kept.column(i).append_from(from.at(i), each.row);
    kept.end_row();
  }
  batches_.assign(1, kept.finish());
  held_rows_ = live_.size();
  for (std::size_t i = 0; i < live_.size(); ++i)
    live_[i] = {0, static_cast<std::uint32_t>(i)};
}

std::vector<result_table::place> result_table::ordered() const {
  auto out = live_;
  const auto compare = [&](const place& left, const place& right, const sql::sort_key& key) {
    const auto& one = batches_[left.batch].at(key.column);
    const auto& other = batches_[right.batch].at(key.column);
    const bool is_null = one.is_null(left.row);
    if (is_null != other.is_null(right.row))
      return is_null == key.nulls_first ? -1 : 1;
    const auto order = is_null ? 0 : graph::compare_values(one, left.row, other, right.row);
    return key.is_descending ? -order : order;
  };
  std::stable_sort(out.begin(), out.end(), [&](const place& left, const place& right) {
    for (const auto& key : shown_.order)
      if (const int order = compare(left, right, key); order != 0)
        return order < 0;
    return false;
  });
  const auto skipped = std::min(out.size(), static_cast<std::size_t>(shown_.offset));
  out.erase(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(skipped));
  if (shown_.limit && out.size() > static_cast<std::size_t>(*shown_.limit))
    out.resize(static_cast<std::size_t>(*shown_.limit));
  return out;
}

std::size_t result_table::shown_size() const {
  const auto left = live_.size() - std::min(live_.size(), static_cast<std::size_t>(shown_.offset));
  return shown_.limit ? std::min(left, static_cast<std::size_t>(*shown_.limit)) : left;
}

graph::record_batch result_table::rows(std::size_t rows_max) const {
  auto places = ordered();
  if (places.size() > rows_max)
    places.resize(rows_max);
  if (places.empty())
    return {};
  graph::batch_builder chosen(batches_.front().type());
  for (const auto& each : places) {
    const auto& from = batches_[each.batch];
    for (std::size_t i = 0; i < from.column_count(); ++i)
      chosen.column(i).append_from(from.at(i), each.row);
    chosen.end_row();
  }
  const auto rows = chosen.finish();
  std::vector<graph::logical_type::field> fields;
  std::vector<graph::column_ptr> columns;
  for (std::size_t i = 0; i < shown_.columns.size(); ++i) {
    columns.push_back(rows.column_at(shown_.columns[i]));
    fields.push_back({shown_.names[i], columns.back()->type(), {}});
  }
  return {std::make_shared<const graph::logical_type>(
              graph::logical_type::row(std::move(fields)).not_null()),
          places.size(), std::move(columns)};
}

result<std::vector<text_row>> result_table::texts(std::size_t rows_max) const {
  const auto shown = rows(rows_max);
  std::vector<text_row> out(shown.size());
  for (std::size_t column = 0; column < shown.column_count(); ++column) {
    HEADRACE_TRY(const auto texts, texts_of(shown, column, time_zone_));
    for (std::size_t i = 0; i < shown.size(); ++i)
      out[i].push_back(shown.at(column).is_null(i)
                           ? std::nullopt
                           : std::optional(std::string(texts->string_at(i))));
  }
  return out;
}

} // namespace headrace::client
