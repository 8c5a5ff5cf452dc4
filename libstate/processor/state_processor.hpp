#pragma once

/// Savepoints as data: writes one to begin a job with, reads what a job has stored.

#include "libstate/processor/savepoint_reader.hpp"
#include "libstate/processor/savepoint_writer.hpp"
#include "libgraph/api/row_info.hpp"
#include "libgraph/api/type_info.hpp"
#include "libgraph/function/failure.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headrace::processor {

/// The keyed state of one operator, to be written. `Key` is what the job's `key_by` gives: the type
/// of a column, or a struct, pair or tuple of several. Names, kinds and types of states are those
/// that its function declares (what it may widen, it may be given narrow).
///
///     auto savepoint = savepoint_writer::create(*files, "/savepoints/first");
///     auto accounts = keyed_operator_writer<std::int64_t>::add(*savepoint, "fraud-detector");
///     accounts->value("was small", 17L, true);
///     savepoint->finish();
template <class Key>
class keyed_operator_writer {
public:
  /// `to` lives longer, and is not moved. @errors duplicate_uid
  static result<keyed_operator_writer> add(savepoint_writer& to, const std::string& uid) {
    HEADRACE_TRY(auto* const writer,
                 to.add_operator(
                     uid, std::make_shared<const graph::logical_type>(api::row_info<Key>::type())));
    return keyed_operator_writer(*writer);
  }

  /// Sets the value of a key. @errors incompatible_state  the state was written otherwise before
  template <class T>
  status value(const std::string& state, const Key& key, const T& value) {
    return put(describe<T>(state, state::table_kind::value), key, {}, api::encoded(value));
  }
  /// The same of a reducing state, or of the accumulator of an aggregating one.
  template <class T>
  status reducing(const std::string& state, const Key& key, const T& value) {
    return put(describe<T>(state, state::table_kind::reducing), key, {}, api::encoded(value));
  }
  template <class T>
  status aggregating(const std::string& state, const Key& key, const T& accumulator) {
    return put(describe<T>(state, state::table_kind::aggregating), key, {},
               api::encoded(accumulator));
  }
  /// Appends to the list of a key.
  template <class T>
  status add(const std::string& state, const Key& key, const T& element) {
    HEADRACE_TRY(const auto number, writer_->declare(describe<T>(state, state::table_kind::list)));
    api::row_info<Key>::append(writer_->key(), key);
    return writer_->append(number, api::encoded(element));
  }
  /// Sets an entry of the map of a key.
  template <class K, class V>
  status entry(const std::string& state, const Key& key, const K& entry_key, const V& value) {
    auto description = describe<V>(state, state::table_kind::map);
    description.entry_key_type = api::info_of<K>::type();
    return put(std::move(description), key, api::encoded(entry_key), api::encoded(value));
  }

private:
  explicit keyed_operator_writer(keyed_state_writer& writer) : writer_(&writer) {}
  template <class T>
  static state::state_description describe(const std::string& name, state::table_kind kind) {
    state::state_description out;
    out.name = name;
    out.kind = kind;
    out.value_type = api::info_of<T>::type();
    out.entry_key_type = graph::logical_type::null();
    out.layout = state::value_layout::variable();
    return out;
  }
  status put(state::state_description description, const Key& key, byte_string entry_key,
             byte_string value) {
    HEADRACE_TRY(const auto number, writer_->declare(std::move(description)));
    api::row_info<Key>::append(writer_->key(), key);
    return writer_->put(number, std::move(entry_key), std::move(value));
  }

  keyed_state_writer* writer_;
};

/// Reads the keyed states of one operator as they were declared.
///
///     auto savepoint = savepoint_reader::open(*files, "/savepoints/savepoint-…");
///     keyed_operator_reader<std::int64_t>::find(*savepoint, "fraud-detector")
///         ->values<bool>("was small", [](std::int64_t account, bool was_small) { … });
template <class Key>
class keyed_operator_reader {
public:
  /// `from` lives longer. @errors as savepoint_reader::find
  static result<keyed_operator_reader> find(const savepoint_reader& from, std::string_view words) {
    HEADRACE_TRY(const auto id, from.find(words));
    return keyed_operator_reader(from, id);
  }

  /// Calls `visit(key, value)` for each key, in no order. Also for reducing states, and for the
  /// accumulators of aggregating ones.
  /// @errors incompatible_state  the state or the key has another type; and as
  /// savepoint_reader::read
  template <class T, class Visit>
  status values(const std::string& state, Visit visit) const {
    return read<T>(state, graph::logical_type::null(), [&](const Key& key, const keyed_entry& one) {
      visit(key, api::decoded<T>(one.value));
    });
  }
  /// Calls `visit(key, elements)` for each key.
  template <class T, class Visit>
  status lists(const std::string& state, Visit visit) const {
    return read<T>(state, graph::logical_type::null(), [&](const Key& key, const keyed_entry& one) {
      std::vector<T> elements;
      for (api::binary_reader in(one.value); !in.at_end();)
        elements.push_back(api::decoded<T>(in.get_bytes()));
      visit(key, std::move(elements));
    });
  }
  /// Calls `visit(key, entry key, value)` for each entry of each map.
  template <class K, class V, class Visit>
  status entries(const std::string& state, Visit visit) const {
    return read<V>(state, api::info_of<K>::type(), [&](const Key& key, const keyed_entry& one) {
      visit(key, api::decoded<K>(one.entry_key), api::decoded<V>(one.value));
    });
  }

private:
  keyed_operator_reader(const savepoint_reader& from, operator_id id) : from_(&from), id_(id) {}

  template <class T, class Visit>
  status read(const std::string& state, const graph::logical_type& entry_key_type,
              Visit visit) const {
    HEADRACE_TRY(const auto known, from_->describe(id_));
    for (const auto& each : known.states) {
      if (each.name == state && each.description)
        HEADRACE_CHECK(check_types<T>(*each.description, *known.key_type, entry_key_type));
    }
    return from_->read(id_, state, [&](const keyed_piece& piece) -> result<bool> {
      try {
        const api::row_reader<Key> keys(piece.keys);
        for (std::size_t row = 0; row < piece.entries.size(); ++row)
          visit(keys(row), piece.entries[row]);
      } catch (const graph::failure& failed) {
        return failed.cause();
      }
      return true;
    });
  }
  template <class T>
  static status check_types(const state::state_description& stored,
                            const graph::logical_type& key_type,
                            const graph::logical_type& entry_key_type) {
    auto wanted = stored;
    wanted.value_type = api::info_of<T>::type();
    wanted.entry_key_type = entry_key_type;
    HEADRACE_CHECK(state::check_compatible(stored, wanted));
    const auto key = api::row_info<Key>::type();
    bool is_same = key.fields().size() == key_type.fields().size();
    for (std::size_t i = 0; is_same && i < key.fields().size(); ++i)
      is_same = key.fields()[i].type.nullable() == key_type.fields()[i].type.nullable();
    return is_same
               ? status()
               : error(errc::incompatible_state,
                       "key is of another type: was " + key_type.to_sql() + ", is " + key.to_sql());
  }

  const savepoint_reader* from_;
  operator_id id_;
};

} // namespace headrace::processor
