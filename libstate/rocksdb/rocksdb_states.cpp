#include "libstate/rocksdb/rocksdb_states.hpp"

#include "libstate/keyed/time_to_live.hpp"
#include "libstate/keyed/user_state.hpp"
#include "libstate/rocksdb/rocksdb_status.hpp"
#include "libstate/rocksdb/row_key.hpp"
#include "libgraph/function/failure.hpp"
#include "libactors/base/assert.hpp"

#include <rocksdb/write_batch.h>

#include <cstring>
#include <memory>

namespace headrace::state {

namespace {

void check(status done) {
  if (!done)
    throw graph::failure(std::move(done).error());
}

void check(const rocksdb::Status& done, std::string_view doing) {
  if (!done.ok()) [[unlikely]]
    check(to_status(done, doing));
}

} // namespace

// ---- the current key ---------------------------------------------------------------------------

void current_row::set(const key_batch& keys, std::size_t row) {
  keys_ = &keys;
  row_ = row;
  key_ = keys.at(row);
  ++version_;
}

void current_row::clear() {
  keys_ = nullptr;
  key_ = {};
  ++version_;
}

std::uint16_t current_row::group() const {
  if (keys_ == nullptr)
    throw graph::failure(no_current_key());
  auto groups = keys_->key_groups();
  if (!groups)
    throw graph::failure(std::move(groups).error());
  return (*groups)[row_];
}

byte_view current_row::row_name(key_shape shape) {
  if (named_ != version_) {
    row_name_.clear();
    row_key::append_group(row_name_, group());
    row_key::append_space(row_name_, 0);
    row_key::append_key(row_name_, key_, shape);
    named_ = version_;
  }
  return row_name_;
}

byte_view current_row::map_prefix(key_shape shape) {
  if (prefixed_ != version_) {
    map_prefix_.clear();
    row_key::append_group(map_prefix_, group());
    row_key::append_map_key(map_prefix_, key_, shape);
    prefixed_ = version_;
  }
  return map_prefix_;
}

bool state_place::is_expired(const rocksdb::Slice& value) const {
  if (!has_stamps() || value.size() < stamp_bytes)
    return false;
  std::int64_t stamp = 0;
  std::memcpy(&stamp, value.data(), sizeof(stamp));
  return state::is_expired(stamp, ttl_ms, now_ms());
}

byte_view state_place::without_stamp(const rocksdb::Slice& value) const {
  return to_view(value).substr(has_stamps() ? std::min(stamp_bytes, value.size()) : 0);
}

std::optional<byte_view> state_place::get(byte_view name, rocksdb::PinnableSlice& read) const {
  read.Reset();
  const auto done = instance->db().Get(rocksdb::ReadOptions(), family, to_slice(name), &read);
  if (done.IsNotFound())
    return std::nullopt;
  check(done, "read");
  if (is_expired(read))
    return std::nullopt;
  return without_stamp(read);
}

void state_place::put(byte_view name, byte_view value, byte_string& scratch) const {
  if (!has_stamps())
    return check(instance->put(family, name, value));
  scratch.clear();
  byte_writer to(scratch);
  to.put(now_ms());
  to.put_raw(value);
  check(instance->put(family, name, scratch));
}

// ---- values ------------------------------------------------------------------------------------

std::optional<byte_view> rocksdb_value_access::get() {
  return at_.get(at_.current->row_name(at_.shape), read_);
}

void rocksdb_value_access::put(byte_view value) {
  at_.put(at_.current->row_name(at_.shape), value, written_);
}

void rocksdb_value_access::clear() {
  check(at_.instance->remove(at_.family, at_.current->row_name(at_.shape)));
}

// ---- lists -------------------------------------------------------------------------------------

void rocksdb_list_access::load() {
  if (loaded_ == at_.current->version() && !at_.has_stamps())
    return;
  loaded_ = at_.current->version();
  elements_.clear();
  whole_.clear();
  rocksdb::PinnableSlice read;
  const auto done = at_.instance->db().Get(rocksdb::ReadOptions(), at_.family,
                                           to_slice(at_.current->row_name(at_.shape)), &read);
  if (done.IsNotFound())
    return;
  check(done, "read");
  whole_.assign(at_.without_stamp(read));
  const auto now = at_.now_ms();
  for_each_element(whole_, at_.has_stamps(), [&](std::int64_t stamp, byte_view, byte_view element) {
    if (!is_expired(stamp, at_.ttl_ms, now))
      elements_.emplace_back(element.data() - whole_.data(), element.size());
  });
}

std::size_t rocksdb_list_access::size() {
  load();
  return elements_.size();
}

byte_view rocksdb_list_access::at(std::size_t index) {
  if (loaded_ != at_.current->version())
    load();
  HEADRACE_ASSERT(index < elements_.size(), "index is below the list's size");
  return byte_view(whole_).substr(elements_[index].first, elements_[index].second);
}

void rocksdb_list_access::add(byte_view element) {
  written_.clear();
  byte_writer to(written_);
  if (at_.has_stamps()) {
    const auto now = at_.now_ms();
    to.put(now); // of the row
    to.put(now); // of the element
  }
  to.put_bytes(element);
  check(at_.instance->merge(at_.family, at_.current->row_name(at_.shape), written_));
  if (loaded_ != at_.current->version())
    return;
  whole_.append(byte_view(written_).substr(at_.has_stamps() ? stamp_bytes : 0));
  elements_.emplace_back(whole_.size() - element.size(), element.size());
}

void rocksdb_list_access::clear() {
  check(at_.instance->remove(at_.family, at_.current->row_name(at_.shape)));
  elements_.clear();
  whole_.clear();
  loaded_ = at_.current->version();
}

// ---- maps --------------------------------------------------------------------------------------

byte_view rocksdb_map_access::name_of(byte_view key) {
  name_.assign(at_.current->map_prefix(at_.shape));
  name_.append(key);
  return name_;
}

std::optional<byte_view> rocksdb_map_access::get(byte_view key) {
  return at_.get(name_of(key), read_);
}

void rocksdb_map_access::put(byte_view key, byte_view value) {
  at_.put(name_of(key), value, written_);
}

void rocksdb_map_access::remove(byte_view key) {
  check(at_.instance->remove(at_.family, name_of(key)));
}

template <class Visit>
void rocksdb_map_access::visit_entries(Visit visit) {
  const byte_string prefix(at_.current->map_prefix(at_.shape));
  const auto end = row_key::end_of_prefix(prefix);
  const auto upper = to_slice(end);
  rocksdb::ReadOptions options;
  if (!end.empty())
    options.iterate_upper_bound = &upper;
  const std::unique_ptr<rocksdb::Iterator> entry(
      at_.instance->db().NewIterator(options, at_.family));
  for (entry->Seek(to_slice(prefix)); entry->Valid(); entry->Next()) {
    if (!visit(entry->key(), entry->value()))
      return;
  }
  check(entry->status(), "scan");
}

void rocksdb_map_access::clear() {
  rocksdb::WriteBatch gone;
  visit_entries([&](const rocksdb::Slice& name, const rocksdb::Slice&) {
    check(gone.Delete(at_.family, name), "write");
    return true;
  });
  check(at_.instance->write(gone));
}

bool rocksdb_map_access::is_empty() {
  bool is_empty = true;
  visit_entries([&](const rocksdb::Slice&, const rocksdb::Slice& value) {
    is_empty = at_.is_expired(value);
    return is_empty;
  });
  return is_empty;
}

void rocksdb_map_access::for_each(bool (*visit)(void* context, byte_view key, byte_view value),
                                  void* context) {
  const auto head = at_.current->map_prefix(at_.shape).size();
  visit_entries([&](const rocksdb::Slice& name, const rocksdb::Slice& value) {
    return at_.is_expired(value) ||
           visit(context, to_view(name).substr(head), at_.without_stamp(value));
  });
}

} // namespace headrace::state
