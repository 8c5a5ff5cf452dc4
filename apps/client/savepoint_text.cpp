#include "apps/client/savepoint_text.hpp"

#include "apps/client/text_table.hpp"
#include "apps/client/value_json.hpp"
#include "libscheduler/rest/handler/json_text.hpp"
#include "libtask/operator/stored_states.hpp"
#include "libstate/operator_state/operator_state_backend.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <utility>

namespace headrace::client {
namespace {

using json = nlohmann::ordered_json;

std::string line_of(const json& value) { return scheduler::to_text(value) + '\n'; }

std::string type_of(const processor::state_summary& state) {
  if (!state.description && !state.declared)
    return "-";
  const auto& described = state.description ? *state.description : *state.declared;
  if (described.kind == state::table_kind::map)
    return described.entry_key_type.to_sql() + " → " + described.value_type.to_sql();
  const auto& type = described.value_type;
  if (state::is_bytes_of_parts(type))
    return "bytes of " + type.child(0).to_sql();
  return type.to_sql();
}

std::string_view kind_of(const state::completed_checkpoint& content) {
  return content.kind == state::checkpoint_kind::savepoint ? "savepoint" : "checkpoint";
}

std::string hooks_as_text(const scheduler::master_hook_states& hooks) {
  std::vector<std::vector<std::string>> rows = {{"MASTER HOOK", "BYTES"}};
  for (const auto& [identifier, stored] : hooks)
    rows.push_back({identifier, std::to_string(stored.size())});
  return text_table(rows);
}

/// What reads the values of a state of an operator of SQL; empty: they are encoded as functions do.
task::stored_reader reader_of(const processor::operator_summary& of,
                              const processor::state_summary& state) {
  std::vector<state::state_description> all;
  for (const auto& each : of.states)
    if (each.description)
      all.push_back(*each.description);
  return state.kind == "raw" ? task::stored_reader()
                             : task::find_stored_reader(*state.description, all);
}

/// An entry of an operator's own state.
json stored_entry_json(const task::stored_reader& reader, const processor::keyed_piece& piece,
                       std::size_t row) {
  const auto& entry = piece.entries[row];
  json out;
  out["key"] = row_json(piece.keys, row);
  const auto read = reader({entry.space, entry.entry_key, entry.value});
  if (!read || (!read->space && entry.space != 0))
    out["namespace"] = entry.space;
  if (!read) {
    if (!entry.entry_key.empty())
      out["entry"] = hex_of(entry.entry_key);
    out["value"] = hex_of(entry.value);
    out["unreadable"] = read.error().message;
    return out;
  }
  if (read->space)
    out[read->space->name] = stored_json(read->space->value);
  if (read->entry_key)
    out["entry"] = stored_json(*read->entry_key);
  out["value"] = stored_json(read->value);
  return out;
}

json entry_json(const processor::state_summary& state, const processor::keyed_piece& piece,
                std::size_t row) {
  const auto& described = *state.description;
  const auto& entry = piece.entries[row];
  json out;
  out["key"] = row_json(piece.keys, row);
  if (entry.space != 0)
    out["namespace"] = entry.space;
  if (described.kind == state::table_kind::map)
    out["entry"] = value_json(entry.entry_key, described.entry_key_type);
  if (state.kind == "raw") {
    out["value"] = hex_of(entry.value);
    return out;
  }
  switch (described.kind) {
  case state::table_kind::list:
    out["value"] = elements_json(entry.value, described.value_type, described.ttl_ms > 0);
    break;
  case state::table_kind::timers:
    out["times"] = times_json(entry.value);
    break;
  default:
    out["value"] = described.layout.is_variable() && !state::is_bytes_of_parts(described.value_type)
                       ? value_json(entry.value, described.value_type)
                       : json(hex_of(entry.value));
  }
  return out;
}

/// An element of operator state.
json element_json(const processor::state_summary& state, byte_view element) {
  if (!state.declared)
    return {{"element", hex_of(element)}};
  if (state.declared->kind != state::table_kind::map)
    return {{"element", value_json(element, state.declared->value_type)}};
  const auto entry = state::read_broadcast_entry(element);
  if (!entry)
    return {{"element", hex_of(element)}};
  return {{"entry", value_json(entry->key, state.declared->entry_key_type)},
          {"value", value_json(entry->value, state.declared->value_type)}};
}

std::string native_note(const std::string& form) {
  return "keyed state is in the form " + form +
         ", which only that backend reads; a savepoint of type canonical shows it";
}

} // namespace

std::string savepoint_as_text(const savepoint_summary& of) {
  const auto& content = of.content;
  std::string out = std::string(kind_of(content)) + ' ' + std::to_string(content.id) + " of job " +
                    to_string(content.job) + ": " + content.directory + "\n\n";
  std::vector<std::vector<std::string>> rows = {
      {"OPERATOR", "UID", "SUBTASKS", "STATE", "KIND", "KEYS", "ROWS", "BYTES", "TYPE"}};
  std::string notes;
  for (const auto& one : of.operators) {
    const auto uid = one.uid.empty() ? "- (id " + to_string(one.id) + ")" : one.uid;
    const auto subtasks =
        std::to_string(one.parallelism) + " of " + std::to_string(one.max_parallelism);
    const auto add = [&](std::vector<std::string> cells) {
      std::vector<std::string> row = {one.name, uid, subtasks};
      row.insert(row.end(), cells.begin(), cells.end());
      rows.push_back(std::move(row));
    };
    for (const auto& state : one.states)
      add({state.name, state.kind, state.description ? std::to_string(state.keys) : "-",
           std::to_string(state.rows), std::to_string(state.bytes), type_of(state)});
    if (one.coordinator_bytes > 0)
      add({"-", "coordinator", "-", "-", std::to_string(one.coordinator_bytes), "-"});
    for (const auto& form : one.native_forms)
      notes += one.name + ": " + native_note(form) + '\n';
    if (one.states.empty() && one.coordinator_bytes == 0 && one.native_forms.empty())
      add({"-", "-", "-", "-", "-", "-"});
    if (one.key_type != nullptr)
      notes += one.name + ": keys are " + one.key_type->to_sql() + '\n';
  }
  out += text_table(rows) + (notes.empty() ? "" : "\n" + notes);
  return of.hooks.empty() ? out : out + '\n' + hooks_as_text(of.hooks);
}

std::string savepoint_as_json(const savepoint_summary& of) {
  const auto& content = of.content;
  json out;
  out["kind"] = kind_of(content);
  out["id"] = content.id;
  out["job"] = to_string(content.job);
  out["path"] = content.directory;
  out["triggered"] = content.triggered_ms;
  out["completed"] = content.completed_ms;
  out["bytes"] = content.size_bytes();
  out["operators"] = json::array();
  for (const auto& one : of.operators) {
    json states = json::array();
    for (const auto& state : one.states) {
      json described;
      described["name"] = state.name;
      described["kind"] = state.kind;
      if (state.description) {
        described["type"] = state.description->value_type.to_sql();
        if (state.description->kind == state::table_kind::map)
          described["entryKeyType"] = state.description->entry_key_type.to_sql();
        if (state.description->ttl_ms > 0)
          described["ttl"] = state.description->ttl_ms;
        described["keys"] = state.keys;
      } else if (state.declared) {
        described["type"] = state.declared->value_type.to_sql();
        if (state.declared->kind == state::table_kind::map)
          described["entryKeyType"] = state.declared->entry_key_type.to_sql();
      }
      described["rows"] = state.rows;
      described["bytes"] = state.bytes;
      states.push_back(std::move(described));
    }
    json described;
    described["id"] = to_string(one.id);
    described["uid"] = one.uid.empty() ? json(nullptr) : json(one.uid);
    described["name"] = one.name;
    described["parallelism"] = one.parallelism;
    described["maxParallelism"] = one.max_parallelism;
    described["keyType"] = one.key_type == nullptr ? json(nullptr) : json(one.key_type->to_sql());
    described["storedBytes"] = one.stored_bytes;
    described["coordinatorBytes"] = one.coordinator_bytes;
    described["nativeForms"] = one.native_forms;
    described["states"] = std::move(states);
    out["operators"].push_back(std::move(described));
  }
  out["masterHooks"] = json::array();
  for (const auto& [identifier, stored] : of.hooks)
    out["masterHooks"].push_back({{"id", identifier}, {"bytes", stored.size()}});
  return line_of(out);
}

result<std::string> entries_as_json(const processor::savepoint_reader& from,
                                    const processor::operator_summary& of,
                                    const processor::state_summary& state, std::size_t rows_max) {
  std::string out;
  std::size_t rows = 0;
  if (!state.description) {
    HEADRACE_CHECK(from.read_elements(of.id, state.name, [&](byte_view element) -> result<bool> {
      if (rows == rows_max)
        return false;
      out += line_of(element_json(state, element));
      return ++rows < rows_max;
    }));
    return out;
  }
  const auto reader = reader_of(of, state);
  HEADRACE_CHECK(
      from.read(of.id, state.name, [&](const processor::keyed_piece& piece) -> result<bool> {
        for (std::size_t row = 0; row < piece.entries.size() && rows < rows_max; ++row, ++rows)
          out += line_of(reader ? stored_entry_json(reader, piece, row)
                                : entry_json(state, piece, row));
        return rows < rows_max;
      }));
  return out;
}

error no_such_state(const std::string& wanted,
                    const std::vector<processor::operator_summary>& looked_at) {
  std::string known;
  std::string notes;
  for (const auto& one : looked_at) {
    for (const auto& state : one.states)
      known += "\n  `" + state.name + "` of " + one.name;
    for (const auto& form : one.native_forms)
      notes += "\n" + one.name + ": " + native_note(form);
  }
  const auto* const none = looked_at.size() == 1 ? "; the operator has none" : "; there are none";
  const auto others = !known.empty()  ? "; there are" + known
                      : notes.empty() ? std::string(none)
                                      : "; there are none that can be shown";
  return {errc::state_not_found, "savepoint has no such state: `" + wanted + "`" + others + notes};
}

} // namespace headrace::client
