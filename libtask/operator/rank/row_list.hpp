#pragma once

#include "libgraph/spec/operator_spec.hpp"
#include "libgraph/types/logical_type.hpp"
#include "libactors/base/bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

namespace headrace::task {

/// What the bytes of such rows are of, with the order of their keys, of those with these ranks.
std::vector<graph::logical_type::field> parts_of(const graph::logical_type& rows,
                                                 const graph::rank_spec& spec);

/// The same taken apart.
struct rank_parts {
  std::vector<graph::logical_type::field> columns; ///< of the rows
  std::vector<graph::logical_type::field> ordered; ///< what they are ordered by, by its name …
  std::vector<graph::order_column> order;          ///< … and how; the number means nothing
};
rank_parts split_parts(const std::vector<graph::logical_type::field>& parts);

/// Rows in an order, as the bytes that a state keeps of them: each has a key, whose bytes give the
/// order, and itself as bytes. Keys may come several times. Read in place; changed by writing the
/// whole anew. Entries are numbered from 0.
///
///     written at, ms (8 bytes) | count (4) | end of each entry, from the first one's begin (4
///     each) entry: size of the key (4), key, row
class row_list {
public:
  static constexpr std::size_t header_bytes = 12;

  row_list() = default;
  /// Bytes that `insert` and its kin wrote, or none: an empty list.
  explicit row_list(byte_view bytes) : bytes_(bytes) {
    if (!bytes.empty())
      count_ = number_at(bytes.data() + sizeof(std::int64_t));
  }

  /// Whether bytes from elsewhere are a list: what is read of others may lie anywhere.
  static bool is_list(byte_view bytes);

  std::size_t size() const { return count_; }
  bool is_empty() const { return count_ == 0; }
  std::int64_t written_ms() const;
  byte_view key(std::size_t index) const {
    const auto* begin = first_entry() + begin_of(index);
    return {begin + sizeof(std::uint32_t), number_at(begin)};
  }
  byte_view row(std::size_t index) const;
  /// The first entry whose key is not less, or is greater; size() when there is none.
  std::size_t lower_bound(byte_view key) const;
  std::size_t upper_bound(byte_view key) const;
  /// The first entry that is equal.
  std::optional<std::size_t> find(byte_view key, byte_view row) const;
  std::size_t size_bytes() const { return bytes_.size(); }
  /// Lets an entry come to the caches, if it is there.
  void fetch(std::size_t index) const {
    if (index < count_)
      __builtin_prefetch(first_entry() + begin_of(index));
  }

  // Each replaces `out`, which must not be what this list lies in.

  /// With an entry before `at`; what is then behind the first `count_max` is left out.
  void insert(std::size_t at, byte_view key, byte_view row, std::size_t count_max,
              std::int64_t written_ms, byte_string& out) const;
  /// Without an entry.
  void erase(std::size_t at, std::int64_t written_ms, byte_string& out) const;
  /// Entries [from, to) alone.
  void slice(std::size_t from, std::size_t to, std::int64_t written_ms, byte_string& out) const;

private:
  static std::uint32_t number_at(const char* from) {
    std::uint32_t out = 0;
    std::memcpy(&out, from, sizeof(out));
    return out;
  }
  const char* first_entry() const {
    return bytes_.data() + header_bytes + count_ * sizeof(std::uint32_t);
  }
  byte_view entry(std::size_t index) const;
  std::size_t end_of(std::size_t index) const {
    return number_at(bytes_.data() + header_bytes + index * sizeof(std::uint32_t));
  }
  std::size_t begin_of(std::size_t index) const { return index == 0 ? 0 : end_of(index - 1); }
  /// Entries as they lie.
  byte_view entries(std::size_t from, std::size_t to) const;

  byte_view bytes_;
  std::size_t count_ = 0;
};

} // namespace headrace::task
