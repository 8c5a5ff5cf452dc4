#include "libtask/operator/join/stored_joins.hpp"

#include "libtask/operator/join/join_rows.hpp"
#include "libtask/operator/join/version_rows.hpp"
#include "libtask/operator/window/stored_windows.hpp"
#include "libgraph/data/row_format.hpp"

#include <string>
#include <utility>
#include <vector>

namespace headrace::task {
namespace {

using graph::logical_type;

bool is_column(const logical_type::field& field) {
  return field.name != join_rows::matches_field && field.name != join_rows::written_field;
}

/// How rows lie, as far as it is known before a value is seen.
struct side_form {
  std::vector<logical_type::field> columns;
  bool counts_matches = false;
  bool expires = false;
  bool is_by_window = false;
  bool is_by_interval = false;

  bool has_spaces() const { return is_by_window || is_by_interval; }
  /// What reads it. @param retracts  rows are taken back: then they have no chunks
  join_rows reader(bool retracts) const {
    return join_rows({{}, nullptr, counts_matches, retracts, expires ? 1 : 0, has_spaces()});
  }
};

side_form form_of(const stored_operator& of, const state::state_description& state) {
  side_form out;
  for (const auto& each : state.value_type.fields()) {
    if (is_column(each))
      out.columns.push_back(each);
    out.counts_matches |= each.name == join_rows::matches_field;
    out.expires |= each.name == join_rows::written_field;
  }
  for (const auto& part : of.query()) {
    out.is_by_window |= part.starts_with("of windows, ");
    out.is_by_interval |= part.find(" ms apart, ") != std::string::npos;
  }
  return out;
}

/// The entries of a value in one of the ways that it may be read. @returns false: not in this one
bool find_entries(const join_rows& reader, byte_view all, std::size_t from,
                  std::vector<joined_entry>& out) {
  out.clear();
  joined_entry entry;
  while (reader.next(all, from, entry))
    out.push_back(entry);
  return from == all.size();
}

result<stored_value> read_entries(const stored_rows& rows, const join_rows& reader,
                                  const side_form& form, byte_view all,
                                  const std::vector<joined_entry>& entries) {
  std::vector<byte_view> encoded;
  for (const auto& each : entries)
    encoded.push_back(each.row);
  HEADRACE_TRY(auto decoded, rows.read(encoded));
  if (form.counts_matches || form.expires)
    for (std::size_t i = 0; i < entries.size(); ++i) {
      stored_value::object with;
      if (form.expires)
        add_member(with, "written", time_value(reader.written_ms(all, entries[i].at)));
      if (form.counts_matches)
        add_member(with, "matches", {std::int64_t{reader.matches(all, entries[i].at)}});
      add_member(with, "row", std::move(decoded[i]));
      decoded[i] = {std::move(with)};
    }
  return stored_value{std::move(decoded)};
}

std::optional<stored_member> space_of(const side_form& form, state::state_namespace space) {
  if (form.is_by_window)
    return window_ending(space);
  if (!form.has_spaces() && space > 0)
    return stored_member{"chunk", {space}};
  return std::nullopt;
}

/// Reads a value as rows that are taken back lie, or as those that are not.
result<stored_value> read_as(bool retracts, const side_form& form, const stored_rows& rows,
                             const stored_entry& entry) {
  const auto reader = form.reader(retracts);
  std::size_t from = 0;
  if (reader.has_chunks() && entry.space == 0)
    from = join_rows::chunk_number_bytes;
  std::vector<joined_entry> entries;
  if (from > entry.value.size() || !find_entries(reader, entry.value, from, entries))
    return not_as_written("rows of a join's side");
  return read_entries(rows, reader, form, entry.value, entries);
}

/// Rows that are taken back have no number of chunks before them. It is 0 but for keys with many
/// rows, as the length of a row never is.
result<stored_reading> read_side(const side_form& form, const stored_rows& rows,
                                 const stored_entry& entry) {
  const bool has_number =
      entry.value.starts_with('\0') || entry.value.size() >= join_rows::chunk_bytes / 2;
  auto read = read_as(!has_number, form, rows, entry);
  if (!read)
    read = read_as(has_number, form, rows, entry);
  if (!read)
    return std::move(read).error();
  return stored_reading{space_of(form, entry.space), {}, *std::move(read)};
}

} // namespace

stored_reader read_join_side(const stored_operator& of, const state::state_description& state) {
  if (state.value_type.root() != graph::type_root::row)
    return {};
  const auto form = form_of(of, state);
  return [form, rows = stored_rows(form.columns)](const stored_entry& entry) {
    return read_side(form, rows, entry);
  };
}

stored_reader read_versions(const stored_operator& /*of*/, const state::state_description& state) {
  if (!state::is_bytes_of_parts(state.value_type))
    return {};
  return [rows = stored_rows(parts_in(state.value_type))](
             const stored_entry& entry) -> result<stored_reading> {
    HEADRACE_TRY(const auto kept, read_version_rows(entry.value));
    std::vector<byte_view> encoded;
    for (const auto& each : kept)
      encoded.push_back(each.row);
    HEADRACE_TRY(auto decoded, rows.read(encoded));
    for (std::size_t i = 0; i < kept.size(); ++i) {
      stored_value::object with;
      add_member(with, "time", time_value(kept[i].time_ms));
      std::string kind;
      graph::format_kind(kept[i].kind, kind);
      add_member(with, "op", {std::move(kind)});
      add_member(with, "row", std::move(decoded[i]));
      decoded[i] = {std::move(with)};
    }
    return stored_reading{{}, {}, {std::move(decoded)}};
  };
}

} // namespace headrace::task
