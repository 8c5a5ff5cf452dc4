#include "libstate/processor/savepoint_reader.hpp"

#include "libstate/checkpoint/checkpoint_storage.hpp"
#include "libstate/heap/canonical_form.hpp"
#include "libstate/heap/heap_native_format.hpp"
#include "libstate/key/key_batch.hpp"
#include "libstate/operator_state/element_reader.hpp"
#include "libstate/operator_state/operator_state_backend.hpp"
#include "libstate/raw_state/raw_state.hpp"
#include "libstate/rocksdb/native_format.hpp"
#include "libstate/rocksdb/table_files.hpp"
#include "libstate/snapshot/snapshot_reader.hpp"
#include "libactors/base/assert.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <unordered_set>
#include <utility>

namespace headrace::processor {

namespace {

using state::operator_state_handle;

constexpr std::size_t piece_rows = 1024;

bool is_raw(const state::keyed_state_handle& handle) {
  return handle.format == state::raw_state::format;
}

/// Forms that can be read row by row.
bool is_readable(const state::keyed_state_handle& handle) {
  return handle.format == "canonical" || handle.format == state::heap_native::format ||
         is_raw(handle);
}

/// The rows of a handle. @errors as read_as_canonical
result<std::unique_ptr<state::snapshot_reader>> open_rows(file_system& files,
                                                          const state::keyed_state_handle& handle) {
  if (is_raw(handle))
    return state::snapshot_reader::open(files, handle.segment);
  return state::read_as_canonical(files, handle, nullptr);
}

std::vector<state::keyed_state_handle> all_keyed(const state::operator_subtask_state& of) {
  auto out = of.keyed;
  out.insert(out.end(), of.raw_keyed.begin(), of.raw_keyed.end());
  return out;
}

std::vector<operator_state_handle> all_lists(const state::operator_subtask_state& of) {
  auto out = of.managed;
  out.insert(out.end(), of.raw_operator.begin(), of.raw_operator.end());
  return out;
}

std::string name_of(state::table_kind kind) {
  switch (kind) {
  case state::table_kind::value:
    return "value";
  case state::table_kind::list:
    return "list";
  case state::table_kind::map:
    return "map";
  case state::table_kind::reducing:
    return "reducing";
  case state::table_kind::aggregating:
    return "aggregating";
  case state::table_kind::operator_rows:
    return "operator rows";
  case state::table_kind::timers:
    return "timers";
  }
  return "unknown";
}

std::string name_of(operator_state_handle::mode how) {
  switch (how) {
  case operator_state_handle::mode::split:
    return "split list";
  case operator_state_handle::mode::union_:
    return "union list";
  case operator_state_handle::mode::broadcast:
    return "broadcast";
  }
  return "unknown";
}

std::string words_of(const state::operator_state& one) {
  return (one.uid.empty() ? "no uid" : "uid `" + one.uid + "`") + " (`" + one.name + "`, id " +
         to_string(one.id) + ")";
}

/// Counts the rows of all states of a snapshot.
class counting_visitor final : public state::snapshot_visitor {
public:
  explicit counting_visitor(std::vector<state_summary*> states)
      : states_(std::move(states)), seen_(states_.size()) {}

  status on_row(const state::snapshot_row& row) override {
    auto& counted = *states_[row.state];
    ++counted.rows;
    counted.bytes += row.key.size() + row.entry_key.size() + row.value.size();
    auto key = byte_string(row.key_is_null ? "n" : "k");
    key.append(row.key);
    if (seen_[row.state].insert(std::move(key)).second)
      ++counted.keys;
    return {};
  }
  /// The keys of other key groups are others.
  void begin_group() {
    for (auto& keys : seen_)
      keys.clear();
  }

private:
  std::vector<state_summary*> states_;
  std::vector<std::unordered_set<byte_string>> seen_;
};

/// Gathers the rows of one state into pieces.
class gathering_visitor final : public state::snapshot_visitor {
public:
  gathering_visitor(std::uint32_t state, state::key_batch keys,
                    const std::function<result<bool>(const keyed_piece&)>& visit)
      : state_(state), keys_(std::move(keys)), visit_(visit) {}

  status on_row(const state::snapshot_row& row) override {
    if (row.state != state_ || is_enough_)
      return {};
    HEADRACE_CHECK(keys_.append_stored(row.key_is_null ? byte_view() : row.key));
    entries_.push_back({row.space, byte_string(row.entry_key), byte_string(row.value)});
    return entries_.size() < piece_rows ? status() : flush();
  }
  status flush() {
    if (entries_.empty() || is_enough_)
      return {};
    HEADRACE_TRY(auto keys, keys_.to_batch());
    HEADRACE_TRY(const auto goes_on,
                 visit_(keyed_piece{std::move(keys), std::exchange(entries_, {})}));
    keys_.clear();
    is_enough_ = !goes_on;
    return {};
  }
  bool is_enough() const { return is_enough_; }

private:
  std::uint32_t state_;
  state::key_batch keys_;
  const std::function<result<bool>(const keyed_piece&)>& visit_;
  std::vector<keyed_entry> entries_;
  bool is_enough_ = false;
};

error no_such_state(const state::operator_state& of, const std::string& wanted,
                    const operator_summary& known) {
  std::string names;
  for (const auto& state : known.states)
    names += (names.empty() ? "`" : ", `") + state.name + "`";
  return {errc::state_not_found, "operator has no such state: `" + wanted + "` of " + words_of(of) +
                                     (names.empty() ? "; it has none" : "; there are " + names)};
}

error not_canonical(const state::operator_state& of, const std::string& form) {
  return {errc::incompatible_state,
          "keyed state is in the form of one backend, take a savepoint of "
          "type canonical to read it: " +
              form + ", of " + words_of(of)};
}

} // namespace

result<savepoint_reader> savepoint_reader::open(file_system& files, const std::string& path) {
  HEADRACE_TRY(auto content, state::read_checkpoint(files, path));
  return savepoint_reader(files, std::move(content));
}

const state::operator_state& savepoint_reader::at(const operator_id& of) const {
  const auto found = content_.operators.find(of);
  HEADRACE_ASSERT(found != content_.operators.end(), "the operator is one of the savepoint");
  return found->second;
}

result<operator_id> savepoint_reader::find(std::string_view words) const {
  std::vector<operator_id> by_name;
  std::vector<operator_id> by_id;
  for (const auto& [id, one] : content_.operators) {
    if (!one.uid.empty() && one.uid == words)
      return id;
    if (one.name == words)
      by_name.push_back(id);
    if (!words.empty() && to_string(id).starts_with(words))
      by_id.push_back(id);
  }
  const auto& found = by_name.empty() ? by_id : by_name;
  if (found.size() == 1)
    return found.front();
  if (found.size() > 1)
    return error(errc::bad_usage,
                 "several operators are named so, give the uid or id: " + std::string(words));
  std::string known;
  for (const auto& [id, one] : content_.operators)
    known += "\n  " + words_of(one);
  return error(errc::state_not_found,
               "savepoint has no such operator: " + std::string(words) +
                   (known.empty() ? "; it has none" : "; there are" + known));
}

result<operator_summary> savepoint_reader::summarize(const operator_id& of) const {
  return look(of, true);
}

result<operator_summary> savepoint_reader::describe(const operator_id& of) const {
  return look(of, false);
}

result<operator_summary> savepoint_reader::look(const operator_id& of, bool counts) const {
  const auto& stored = at(of);
  operator_summary out;
  out.id = stored.id;
  out.uid = stored.uid;
  out.name = stored.name;
  out.parallelism = stored.parallelism;
  out.max_parallelism = stored.max_parallelism;
  out.coordinator_bytes = stored.coordinator.size();
  std::map<std::string, state_summary> states; // stays where it is
  declared_states declared;
  for (const auto& [subtask, part] : stored.subtasks) {
    out.stored_bytes += part.size_bytes();
    for (const auto& handle : all_keyed(part)) {
      if (!is_readable(handle)) {
        if (std::find(out.native_forms.begin(), out.native_forms.end(), handle.format) ==
            out.native_forms.end())
          out.native_forms.push_back(handle.format);
        if (counts && handle.format == state::native_snapshot::format)
          HEADRACE_CHECK(state::check_native(*files_, handle));
        continue;
      }
      HEADRACE_TRY(const auto reader, open_rows(*files_, handle));
      const auto& header = reader->header();
      if (!is_raw(handle))
        out.key_type = std::make_shared<const graph::logical_type>(header.key_type);
      std::vector<state_summary*> counted;
      for (const auto& description : header.states) {
        auto& summary = states[description.name];
        summary.name = description.name;
        summary.kind = is_raw(handle) ? "raw" : name_of(description.kind);
        summary.description = description;
        counted.push_back(&summary);
      }
      counting_visitor visitor(std::move(counted));
      for (auto group = header.groups.first; counts && group < header.groups.end; ++group) {
        visitor.begin_group();
        HEADRACE_CHECK(reader->read_group(group, visitor));
      }
    }
    for (const auto& handle : all_lists(part)) {
      for (const auto& list : handle.lists) {
        if (list.name == state::operator_state_backend::declarations) {
          HEADRACE_CHECK(read_declarations(handle, list, declared));
          continue; // it tells of the others
        }
        auto& summary = states[list.name];
        summary.name = list.name;
        summary.kind = list.name == state::raw_state::operator_name ? "raw" : name_of(list.how);
        summary.rows += list.elements.size();
        for (const auto& element : list.elements)
          summary.bytes += element.end - element.begin;
      }
    }
  }
  for (auto& [name, summary] : states) {
    if (const auto found = declared.find(name); found != declared.end() && !summary.description)
      summary.declared = std::move(found->second);
    out.states.push_back(std::move(summary));
  }
  return out;
}

status savepoint_reader::read_declarations(const operator_state_handle& handle,
                                           const operator_state_handle::list& list,
                                           declared_states& out) const {
  state::element_reader reader(*files_, handle.segment);
  HEADRACE_TRY(const auto elements, reader.read(list.elements));
  for (const auto& element : elements) {
    const auto entry = state::read_broadcast_entry(element);
    auto read =
        entry ? state::read_declaration(*entry) : result<state::state_description>(entry.error());
    if (!read)
      return reader.corrupt("malformed declaration of a state");
    auto name = read->name;
    out.insert_or_assign(std::move(name), *std::move(read));
  }
  return {};
}

status savepoint_reader::read(const operator_id& of, const std::string& state,
                              const std::function<result<bool>(const keyed_piece&)>& visit) const {
  const auto& stored = at(of);
  bool is_known = false;
  for (const auto& [subtask, part] : stored.subtasks) {
    for (const auto& handle : all_keyed(part)) {
      if (!is_readable(handle))
        return not_canonical(stored, handle.format);
      HEADRACE_TRY(const auto reader, open_rows(*files_, handle));
      const auto& header = reader->header();
      const auto found =
          std::find_if(header.states.begin(), header.states.end(),
                       [&](const auto& description) { return description.name == state; });
      if (found == header.states.end())
        continue;
      is_known = true;
      const state::key_schema schema(std::make_shared<const graph::logical_type>(header.key_type));
      gathering_visitor visitor(static_cast<std::uint32_t>(found - header.states.begin()),
                                state::key_batch(keys_of(schema, *found), header.max_parallelism),
                                visit);
      for (auto group = header.groups.first; group < header.groups.end; ++group) {
        HEADRACE_CHECK(reader->read_group(group, visitor));
        if (visitor.is_enough())
          return {};
      }
      HEADRACE_CHECK(visitor.flush());
      if (visitor.is_enough())
        return {};
    }
  }
  if (is_known)
    return {};
  HEADRACE_TRY(const auto known, describe(of));
  return no_such_state(stored, state, known);
}

status savepoint_reader::read_elements(const operator_id& of, const std::string& state,
                                       const std::function<result<bool>(byte_view)>& visit) const {
  const auto& stored = at(of);
  bool is_known = false;
  for (const auto& [subtask, part] : stored.subtasks) {
    for (const auto& handle : all_lists(part)) {
      state::element_reader reader(*files_, handle.segment);
      for (const auto& list : handle.lists) {
        if (list.name != state)
          continue;
        is_known = true;
        HEADRACE_TRY(const auto elements, reader.read(list.elements));
        for (const auto& element : elements) {
          HEADRACE_TRY(const auto goes_on, visit(element));
          if (!goes_on)
            return {};
        }
      }
    }
  }
  if (is_known)
    return {};
  HEADRACE_TRY(const auto known, describe(of));
  return no_such_state(stored, state, known);
}

} // namespace headrace::processor
