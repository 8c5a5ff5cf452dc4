#include "libstate/key/key_batch.hpp"

#include "libgraph/data/batch_builder.hpp"
#include "libgraph/data/fixed_width.hpp"
#include "libgraph/data/hash.hpp"
#include "libgraph/data/key_group.hpp"
#include "libactors/base/assert.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <type_traits>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace headrace::state {

namespace {

/// Widens one value to a fixed key: equal keys have equal words.
template <class T>
std::uint64_t to_fixed(T value) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<std::uint32_t>(graph::canonical_key(value));
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<std::uint64_t>(graph::canonical_key(value));
  else
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}

template <class T>
T from_fixed(std::uint64_t key) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(static_cast<std::uint32_t>(key));
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<double>(key);
  else
    return static_cast<T>(key);
}

result<graph::record_batch> decode(const key_schema& schema, std::span<const byte_view> keys) {
  std::vector<graph::column_builder> builders;
  builders.reserve(schema.column_count());
  for (const auto& field : schema.type()->fields())
    builders.emplace_back(field.type);
  std::vector<graph::column_builder*> columns;
  for (auto& builder : builders)
    columns.push_back(&builder);
  HEADRACE_CHECK(graph::decode_keys(keys, columns));
  std::vector<graph::column_ptr> finished;
  for (auto& builder : builders)
    finished.push_back(builder.finish());
  return graph::record_batch(schema.type(), keys.size(), std::move(finished));
}

template <class Body>
void for_selected(const graph::record_batch& in, Body body) {
  if (in.has_selection()) {
    for (const auto row : in.selection())
      body(std::size_t{row});
  } else {
    for (std::size_t row = 0; row < in.row_count(); ++row)
      body(row);
  }
}

} // namespace

std::uint64_t hash_of_bytes(byte_view key) { return XXH3_64bits(key.data(), key.size()); }

key_batch::key_batch(key_schema schema, std::int32_t max_parallelism)
    : schema_(std::move(schema)), max_parallelism_(max_parallelism) {
  HEADRACE_ASSERT(max_parallelism >= 1 && max_parallelism <= graph::max_parallelism_most,
                  "key groups are within their bounds");
  encoded_.offsets.assign(1, 0);
  encoded_.bytes.reserve(64); // beyond what a string holds in itself: views survive a move
}

void key_batch::resize(std::size_t rows) {
  size_ = rows;
  if (schema_.is_fixed()) {
    fixed_.resize(rows);
    return;
  }
  hashes_.resize(rows);
  bytes_.resize(rows);
}

void key_batch::assign(const graph::record_batch& in, std::span<const std::int32_t> key_columns) {
  HEADRACE_ASSERT(key_columns.size() == schema_.column_count(), "a column a field of the key");
  has_nulls_ = false;
  grouped_ = 0;
  selected_.clear();
  if (in.has_selection())
    selected_.assign(in.selection().begin(), in.selection().end());
  resize(in.row_count());
  if (schema_.is_fixed())
    assign_fixed(in, in.at(static_cast<std::size_t>(key_columns[0])));
  else
    assign_bytes(in, key_columns);
}

void key_batch::assign_fixed(const graph::record_batch& in, const graph::column& source) {
  const bool is_known =
      graph::visit_fixed_width(source.type().physical(), [&]<class T>(std::type_identity<T>) {
        if constexpr (sizeof(T) <= 8) {
          const auto* values = source.values<T>();
          auto* to = fixed_.data();
          if constexpr (std::is_integral_v<T> && sizeof(T) == sizeof(*to)) {
            if (!in.has_selection() && size_ > 0) {
              std::memcpy(to, values, size_ * sizeof(*to)); // they are words as they stand
              return;
            }
          }
          for_selected(in, [&](std::size_t row) { to[row] = to_fixed(values[row]); });
        }
      });
  HEADRACE_ASSERT(is_known, "the key column has the schema's type");
  if (!source.has_nulls())
    return;
  nulls_.assign(size_, 0);
  for_selected(in, [&](std::size_t row) {
    if (!source.is_null(row))
      return;
    has_nulls_ = true;
    nulls_[row] = 1;
    fixed_[row] = 0;
  });
}

void key_batch::assign_bytes(const graph::record_batch& in,
                             std::span<const std::int32_t> key_columns) {
  graph::encode_keys(in, key_columns, encoded_);
  std::size_t index = 0;
  for_selected(in, [&](std::size_t row) {
    bytes_[row] = encoded_[index++];
    hashes_[row] = hash_of_bytes(bytes_[row]);
  });
}

void key_batch::clear() {
  size_ = 0;
  has_nulls_ = false;
  grouped_ = 0;
  selected_.clear();
  hashes_.clear();
  fixed_.clear();
  nulls_.clear();
  bytes_.clear();
  encoded_.bytes.clear();
  encoded_.offsets.assign(1, 0);
}

void key_batch::append(const key_ref& key) {
  ++size_;
  if (schema_.is_fixed()) {
    fixed_.push_back(key.fixed);
    if (key.is_null && !has_nulls_) {
      has_nulls_ = true;
      nulls_.assign(size_ - 1, 0);
    }
    if (has_nulls_)
      nulls_.push_back(key.is_null ? 1 : 0);
    return;
  }
  hashes_.push_back(key.hash);
  const auto* before = encoded_.bytes.data();
  encoded_.bytes.append(key.bytes);
  encoded_.offsets.push_back(encoded_.bytes.size());
  if (encoded_.bytes.data() != before) {
    for (std::size_t row = 0; row + 1 < size_; ++row)
      bytes_[row] = encoded_[row];
  }
  bytes_.push_back(encoded_[size_ - 1]);
}

status key_batch::append_stored(byte_view stored) {
  if (!schema_.is_fixed()) {
    append({hash_of_bytes(stored), 0, stored, false});
    return {};
  }
  if (stored.empty()) {
    append({hash_of_null, 0, {}, true});
    return {};
  }
  if (stored.size() != sizeof(std::uint64_t))
    return error(errc::malformed_message,
                 "a fixed key has 8 bytes: " + std::to_string(stored.size()));
  std::uint64_t fixed = 0;
  std::memcpy(&fixed, stored.data(), sizeof(fixed));
  append({hash_of_fixed(fixed), fixed, {}, false});
  return {};
}

result<graph::record_batch> key_batch::to_batch() const {
  if (!schema_.is_fixed())
    return decode(schema_, {bytes_.data(), size_});
  graph::column_builder to(schema_.type()->fields()[0].type);
  to.reserve(size_);
  graph::visit_fixed_width(schema_.type()->fields()[0].type.physical(),
                           [&]<class T>(std::type_identity<T>) {
                             for (std::size_t row = 0; row < size_; ++row) {
                               if (has_nulls_ && nulls_[row] != 0)
                                 to.append_null();
                               else
                                 to.append(from_fixed<T>(fixed_[row]));
                             }
                           });
  std::vector<graph::column_ptr> finished;
  finished.push_back(to.finish());
  return graph::record_batch(schema_.type(), size_, std::move(finished));
}

status key_batch::groups(std::vector<std::uint16_t>& out) const {
  HEADRACE_ASSERT(selected_.empty(), "every row holds a key");
  HEADRACE_TRY(const auto known, key_groups());
  out.assign(known.begin(), known.end());
  return {};
}

result<std::span<const std::uint16_t>> key_batch::key_groups() const {
  if (grouped_ == size_)
    return std::span<const std::uint16_t>(groups_.data(), size_);
  groups_.resize(size_);
  if (schema_.is_fixed()) {
    groups_of_fixed(grouped_);
  } else if (selected_.empty()) {
    HEADRACE_CHECK(groups_of_bytes({bytes_.data() + grouped_, size_ - grouped_}));
    for (std::size_t row = grouped_; row < size_; ++row)
      groups_[row] = static_cast<std::uint16_t>(
          graph::key_group_of(group_hashes_[row - grouped_], max_parallelism_));
  } else {
    std::vector<byte_view> keys;
    keys.reserve(selected_.size());
    for (const auto row : selected_)
      keys.push_back(bytes_[row]);
    HEADRACE_CHECK(groups_of_bytes(keys));
    for (std::size_t i = 0; i < selected_.size(); ++i)
      groups_[selected_[i]] =
          static_cast<std::uint16_t>(graph::key_group_of(group_hashes_[i], max_parallelism_));
  }
  grouped_ = size_;
  return std::span<const std::uint16_t>(groups_.data(), size_);
}

/// Rows without a key get a group that means nothing.
void key_batch::groups_of_fixed(std::size_t first) const {
  const bool may_be_null = nulls() != nullptr;
  for (std::size_t row = first; row < size_; ++row) {
    // A fixed key is widened as the hash widens it.
    const auto hash = may_be_null && nulls_[row] != 0
                          ? graph::hash_of_null()
                          : graph::hash_of(static_cast<std::int64_t>(fixed_[row]));
    groups_[row] = static_cast<std::uint16_t>(graph::key_group_of(hash, max_parallelism_));
  }
}

/// Leaves their hashes in group_hashes_.
status key_batch::groups_of_bytes(std::span<const byte_view> keys) const {
  HEADRACE_TRY(const auto decoded, decode(schema_, keys));
  std::vector<int> indices(schema_.group_columns());
  std::iota(indices.begin(), indices.end(), 0);
  group_hashes_.resize(keys.size());
  graph::hash_columns(decoded, indices, group_hashes_);
  return {};
}

} // namespace headrace::state
