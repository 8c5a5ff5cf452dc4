#include "libtask/operator/join/join_rows.hpp"

#include "libactors/base/ids.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

namespace headrace::task {
namespace {

using graph::logical_type;

constexpr std::size_t sweep_keys = 256;
constexpr unsigned chunk_shift = 32; ///< of its number in an offset
/// Keys whose rows are looked at together: they come from memory side by side.
constexpr std::size_t fetched_keys = 32;

template <class T>
T load(byte_view from, std::size_t at) {
  T out{};
  std::memcpy(&out, from.data() + at, sizeof(T));
  return out;
}
template <class T>
void append(byte_string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

} // namespace

status join_rows::open(state::keyed_backend& backend) {
  state::state_description wanted;
  wanted.name = with_.name;
  auto fields = with_.type->fields();
  if (with_.counts_matches)
    fields.push_back({matches_field, logical_type::integer().not_null(), {}});
  if (with_.ttl_ms > 0)
    fields.push_back({written_field, logical_type::bigint().not_null(), {}});
  wanted.value_type = logical_type::row(std::move(fields)).not_null();
  wanted.layout = state::value_layout::variable();
  HEADRACE_TRY(table_, backend.open_table(wanted));
  piece_.emplace(table_->make_piece());
  return {};
}

status join_rows::find(const state::key_batch& keys, std::span<const std::uint32_t> rows,
                       std::span<const state::state_namespace> spaces, std::int64_t now_ms) {
  now_ms_ = now_ms;
  const auto mode = with_.counts_matches ? state::access::update : state::access::read;
  HEADRACE_CHECK(spaces.empty() ? table_->locate(keys, rows, 0, mode, found_)
                                : table_->locate(keys, rows, spaces, mode, found_));
  counted_size_ = 0;
  if (with_.counts_matches)
    map_keys();
  if (has_chunks())
    find_chunks(keys, rows);
  return {};
}

void join_rows::find_chunks(const state::key_batch& keys, std::span<const std::uint32_t> rows) {
  keys_ = &keys;
  found_rows_.assign(rows.begin(), rows.end());
  chunks_.clear();
  firsts_.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    firsts_[i] = table_->get(found_, i).value_or(byte_view());
    __builtin_prefetch(firsts_[i].data());
  }
}

void join_rows::begin_piece() {
  while (chunks_.size() > 1) // the last one may be in the middle
    chunks_.pop_front();
}

/// Equal keys are counted as one.
void join_rows::map_keys() {
  const auto count = found_.size();
  key_of_.assign(count, none);
  buckets_.assign(std::bit_ceil(std::max<std::size_t>(2 * count, 16)), none);
  const auto mask = buckets_.size() - 1;
  for (std::size_t i = 0; i < count; ++i) {
    if (found_.is_absent(i))
      continue;
    for (auto at = mix64(found_.tokens[i]) & mask;; at = (at + 1) & mask) {
      if (buckets_[at] == none) {
        buckets_[at] = static_cast<std::uint32_t>(counted_size_);
        if (counted_.size() == counted_size_)
          counted_.emplace_back();
        auto& made = counted_[counted_size_++];
        made.bytes.clear();
        made.index = i;
        made.is_changed = false;
      }
      const auto key = buckets_[at];
      if (found_.tokens[counted_[key].index] == found_.tokens[i]) {
        key_of_[i] = key;
        break;
      }
    }
  }
}

join_rows::counted_key& join_rows::counted_at(std::size_t index) {
  auto& key = counted_[key_of_[index]];
  if (key.bytes.empty())
    key.bytes.assign(table_->get(found_, key.index).value_or(byte_view()));
  return key;
}

byte_view join_rows::rows_at(std::size_t index) {
  if (found_.is_absent(index))
    return {};
  if (with_.counts_matches)
    return counted_at(index).bytes;
  return table_->get(found_, index).value_or(byte_view());
}

bool join_rows::read(byte_view all, std::size_t& offset, joined_entry& out) const {
  auto at = offset + header_bytes();
  std::uint64_t size = 0;
  for (unsigned shift = 0;; shift += 7U) {
    if (at >= all.size() || shift >= 64U)
      return false;
    const auto byte = static_cast<unsigned char>(all[at++]);
    size |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
    if (byte < 0x80U)
      break;
  }
  if (size > all.size() - at)
    return false;
  out = {offset, all.substr(at, static_cast<std::size_t>(size))};
  offset = at + static_cast<std::size_t>(size);
  return true;
}

bool join_rows::is_expired(byte_view all, const joined_entry& entry, std::int64_t now_ms) const {
  return with_.ttl_ms > 0 && now_ms - written_ms(all, entry.at) >= with_.ttl_ms;
}

bool join_rows::next(std::size_t index, std::size_t& offset, joined_entry& out) {
  if (has_chunks())
    return next_of_chunks(index, offset, out);
  const auto all = rows_at(index);
  while (offset < all.size() && read(all, offset, out))
    if (!is_expired(all, out, now_ms_))
      return true;
  return false;
}

bool join_rows::next_of_chunks(std::size_t index, std::size_t& offset, joined_entry& out) {
  const auto first = firsts_[index];
  if (first.size() < sizeof(std::uint32_t))
    return false;
  const auto last = load<std::uint32_t>(first, 0);
  if (offset == 0)
    offset = sizeof(last);
  while (true) {
    const auto chunk = static_cast<std::uint32_t>(offset >> chunk_shift);
    const auto all = chunk == 0 ? first : chunk_at(index, chunk);
    auto at = static_cast<std::size_t>(static_cast<std::uint32_t>(offset));
    if (at < all.size() && read(all, at, out)) {
      offset = std::size_t{chunk} << chunk_shift | at;
      return true;
    }
    if (chunk >= last || !failure_)
      return false;
    offset = std::size_t{chunk + 1} << chunk_shift;
  }
}

byte_view join_rows::chunk_at(std::size_t index, std::uint32_t chunk) {
  if (!chunks_.empty() && chunks_.back().index == index && chunks_.back().chunk == chunk)
    return chunks_.back().bytes;
  failure_ = table_->locate(*keys_, {&found_rows_[index], 1}, state::state_namespace{chunk},
                            state::access::read, chunk_found_);
  if (!failure_)
    return {};
  const auto bytes = table_->get(chunk_found_, 0).value_or(byte_view());
  chunks_.push_back({index, chunk, byte_string(bytes)});
  return chunks_.back().bytes;
}

std::uint32_t join_rows::matches(std::size_t index, std::size_t at) const {
  return matches(counted_[key_of_[index]].bytes, at);
}

std::uint32_t join_rows::matches(byte_view all, std::size_t at) const {
  return load<std::uint32_t>(all, at + (with_.ttl_ms > 0 ? sizeof(std::int64_t) : 0));
}

std::int64_t join_rows::written_ms(byte_view all, std::size_t at) {
  return load<std::int64_t>(all, at);
}

void join_rows::set_matches(std::size_t index, std::size_t at, std::uint32_t count) {
  auto& key = counted_[key_of_[index]];
  const auto place = at + (with_.ttl_ms > 0 ? sizeof(std::int64_t) : 0);
  std::memcpy(key.bytes.data() + place, &count, sizeof(count));
  key.is_changed = true;
}

status join_rows::finish() {
  chunks_.clear();
  if (!with_.counts_matches)
    return std::exchange(failure_, {});
  bool has_changed = false;
  for (std::size_t i = 0; i < counted_size_; ++i) {
    auto& key = counted_[i];
    if (!key.is_changed)
      continue;
    has_changed = true;
    HEADRACE_CHECK(table_->put(found_, key.index, key.bytes));
  }
  counted_size_ = 0;
  return has_changed ? table_->write_back(found_) : status();
}

status join_rows::apply(const state::key_batch& keys, std::span<const change> changes,
                        std::int64_t now_ms) {
  if (changes.empty())
    return {};
  rows_.clear();
  spaces_.clear();
  bool is_one_space = true;
  for (const auto& each : changes) {
    rows_.push_back(each.row);
    spaces_.push_back(each.space);
    is_one_space = is_one_space && each.space == changes[0].space;
  }
  HEADRACE_CHECK(is_one_space
                     ? table_->locate(keys, rows_, changes[0].space, state::access::insert, own_)
                     : table_->locate(keys, rows_, spaces_, state::access::insert, own_));
  if (has_chunks())
    return add_to_chunks(keys, changes);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const auto& each = changes[i];
    if (each.is_retracted) {
      HEADRACE_CHECK(remove(i, each.encoded));
      continue;
    }
    scratch_.clear();
    if (with_.ttl_ms > 0)
      append(scratch_, now_ms);
    if (with_.counts_matches)
      append(scratch_, each.matches);
    byte_writer(scratch_).put_bytes(each.encoded);
    HEADRACE_CHECK(table_->append(own_, i, scratch_));
  }
  emptied_.clear();
  for (std::uint32_t i = 0; with_.retracts && i < changes.size(); ++i)
    if (changes[i].is_retracted && table_->get(own_, i).value_or(byte_view()).empty())
      emptied_.push_back(i);
  HEADRACE_CHECK(table_->erase(own_, emptied_));
  return table_->write_back(own_);
}

status join_rows::add_to_chunks(const state::key_batch& keys, std::span<const change> changes) {
  additions_.clear();
  addition_of_.clear();
  for (std::size_t i = 0; i < changes.size(); ++i) {
    for (auto k = i; i % fetched_keys == 0 && k < std::min(i + fetched_keys, changes.size()); ++k) {
      const auto there = table_->get(own_, k).value_or(byte_view());
      __builtin_prefetch(there.data());
      __builtin_prefetch(there.data() + there.size(), 1);
    }
    const auto all = table_->get(own_, i).value_or(byte_view());
    const auto last = all.empty() ? std::uint32_t{0} : load<std::uint32_t>(all, 0);
    scratch_.clear();
    if (all.empty())
      append(scratch_, last);
    byte_writer(scratch_).put_bytes(changes[i].encoded);
    if (last == 0 && all.size() + scratch_.size() <= chunk_bytes &&
        (additions_.empty() || !addition_of_.contains(own_.tokens[i]))) {
      HEADRACE_CHECK(table_->append(own_, i, scratch_));
      continue;
    }
    if (all.empty()) { // one row that is larger than a chunk
      HEADRACE_CHECK(table_->append(own_, i, scratch_));
      continue;
    }
    const auto [known, is_fresh] = addition_of_.try_emplace(own_.tokens[i], additions_.size());
    if (is_fresh)
      additions_.push_back({i, last, {}});
    additions_[known->second].bytes += scratch_;
  }
  if (!additions_.empty())
    HEADRACE_CHECK(append_chunks(keys));
  return table_->write_back(own_);
}

/// Appends to the last chunk of each key, or, where that is full, as a further one.
status join_rows::append_chunks(const state::key_batch& keys) {
  const auto own_rows = rows_;
  std::vector<std::uint32_t> lasts;
  for (const bool is_further : {false, true}) {
    std::vector<std::size_t> taken;
    rows_.clear();
    spaces_.clear();
    for (std::size_t i = 0; i < additions_.size(); ++i) {
      auto& each = additions_[i];
      if (each.bytes.empty())
        continue;
      taken.push_back(i);
      rows_.push_back(own_rows[each.index]);
      spaces_.push_back(std::int64_t{lasts.empty() ? std::max(each.last, 1U) : lasts[i] + 1});
    }
    if (taken.empty())
      break;
    HEADRACE_CHECK(table_->locate(keys, rows_, spaces_, state::access::insert, chunk_found_));
    for (std::size_t i = 0; i < taken.size(); ++i) {
      auto& each = additions_[taken[i]];
      const auto before = table_->get(chunk_found_, i).value_or(byte_view()).size();
      if (!is_further && before > 0 && before + each.bytes.size() > chunk_bytes)
        continue;
      HEADRACE_CHECK(table_->append(chunk_found_, i, each.bytes));
      each.bytes.clear();
      const auto last = static_cast<std::uint32_t>(spaces_[i]);
      if (last == each.last)
        continue;
      scratch_.assign(table_->get(own_, each.index).value_or(byte_view()));
      std::memcpy(scratch_.data(), &last, sizeof(last));
      HEADRACE_CHECK(table_->put(own_, each.index, scratch_));
    }
    HEADRACE_CHECK(table_->write_back(chunk_found_));
    for (const auto& each : additions_)
      lasts.push_back(std::max(each.last, 1U));
  }
  return {};
}

/// Takes the first equal row out.
status join_rows::remove(std::size_t index, byte_view encoded) {
  const auto all = table_->get(own_, index).value_or(byte_view());
  joined_entry entry;
  for (std::size_t offset = 0; offset < all.size();) {
    if (!read(all, offset, entry))
      break;
    if (entry.row != encoded)
      continue;
    scratch_.assign(all.substr(0, entry.at));
    scratch_.append(all.substr(offset));
    return table_->put(own_, index, scratch_);
  }
  return {};
}

/// Copies the rows that have not expired to `scratch_`. @returns whether others are left out
bool join_rows::copy_live(byte_view all, std::int64_t now_ms) {
  scratch_.clear();
  joined_entry entry;
  for (std::size_t offset = 0; offset < all.size();) {
    if (!read(all, offset, entry))
      break;
    if (!is_expired(all, entry, now_ms))
      scratch_.append(all.substr(entry.at, offset - entry.at));
  }
  return scratch_.size() < all.size();
}

status join_rows::sweep(std::int64_t now_ms) {
  if (with_.ttl_ms == 0)
    return {};
  if (cursor_.done) {
    if (now_ms < next_sweep_ms_)
      return {};
    cursor_ = {};
  }
  HEADRACE_CHECK(table_->scan(0, cursor_, sweep_keys, *piece_));
  if (cursor_.done)
    next_sweep_ms_ = now_ms + with_.ttl_ms / 2;
  rows_.clear();
  for (std::uint32_t i = 0; i < piece_->size(); ++i)
    if (copy_live(piece_->variable[i], now_ms))
      rows_.push_back(i);
  if (rows_.empty())
    return {};
  HEADRACE_CHECK(table_->locate(piece_->keys, rows_, 0, state::access::update, own_));
  emptied_.clear();
  for (std::uint32_t i = 0; i < rows_.size(); ++i) {
    copy_live(table_->get(own_, i).value_or(byte_view()), now_ms);
    if (scratch_.empty())
      emptied_.push_back(i);
    else
      HEADRACE_CHECK(table_->put(own_, i, scratch_));
  }
  HEADRACE_CHECK(table_->erase(own_, emptied_));
  return table_->write_back(own_);
}

} // namespace headrace::task
