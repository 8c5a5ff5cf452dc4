#pragma once

#include "libstate/backend/keyed_backend.hpp"
#include "libgraph/data/key_codec.hpp"
#include "libgraph/data/record_batch.hpp"
#include "libactors/base/bytes.hpp"
#include "libactors/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace headrace::task {

/// One stored row of a join's side.
struct joined_entry {
  std::size_t at = 0; ///< of the entry among those of its key
  byte_view row;      ///< as `graph::encode_keys` writes all columns
};

/// The rows of one side of a join, by key: one value a key, which holds its rows one behind the
/// other, equal rows as often as they came.
///
///     value   [4 bytes: number of the last chunk, where there are chunks] entry …
///     entry   [8 bytes: written at, when rows expire] [4 bytes: rows of the other side that match,
///             when they are counted] varint length, row
///
/// Where rows are only added and read, those beyond some kilobytes of a key lie in chunks, which
/// are values of the key in spaces 1, 2, …: what is added to a key with many rows does not rewrite
/// them.
///
/// On the subtask's mailbox only.
class join_rows {
public:
  struct setup {
    std::string name;
    graph::row_type_ptr type;
    bool counts_matches = false;
    bool retracts = false;
    std::int64_t ttl_ms = 0;
    bool has_spaces = false; ///< of the caller's own
  };
  /// Names beside the rows' columns in the description of the state, where entries have these.
  static constexpr const char* matches_field = "$matches";
  static constexpr const char* written_field = "$written";
  /// Of the first value of a key that may have chunks.
  static constexpr std::size_t chunk_number_bytes = sizeof(std::uint32_t);
  static constexpr std::size_t chunk_bytes = std::size_t{16} << 10U;

  explicit join_rows(setup with) : with_(std::move(with)) {}

  /// @errors incompatible_state  the restored rows have other columns
  status open(state::keyed_backend& backend);

  // --- read by a batch of the other side
  /// Finds the rows of `rows[i]` of `keys` in `spaces[i]`; without spaces in 0. They stay until the
  /// next `find`, or `finish`.
  status find(const state::key_batch& keys, std::span<const std::uint32_t> rows,
              std::span<const state::state_namespace> spaces, std::int64_t now_ms);
  /// Rows that `next` gave are not needed any more.
  void begin_piece();
  /// Whether there is a further row of the i-th key behind `offset`, which moves on from 0.
  bool next(std::size_t index, std::size_t& offset, joined_entry& out);
  /// Counted matches of a row of the i-th key.
  std::uint32_t matches(std::size_t index, std::size_t at) const;
  void set_matches(std::size_t index, std::size_t at, std::uint32_t count);
  /// Stores what was counted. @errors what failed in `next`, too
  status finish();

  // --- written by a batch of its own side
  struct change {
    std::uint32_t row = 0; ///< of `keys`
    byte_view encoded;     ///< the row
    std::uint32_t matches = 0;
    bool is_retracted = false;
    state::state_namespace space = 0;
  };
  /// Adds rows, and removes those that are taken back; one that is not there is passed over.
  status apply(const state::key_batch& keys, std::span<const change> changes, std::int64_t now_ms);

  // --- over all keys of a space
  struct piece {
    explicit piece(state::scanned_rows empty) : found(std::move(empty)) {}
    state::scanned_rows found; ///< `variable` holds the rows of each key
    state::scan_cursor cursor;
  };
  piece make_piece() const { return piece(table_->make_piece()); }
  status scan(state::state_namespace space, std::size_t keys_max, piece& into) {
    return table_->scan(space, into.cursor, keys_max, into.found);
  }
  /// Whether there is a further row among those that were scanned of a key.
  bool next(byte_view all, std::size_t& offset, joined_entry& out) const {
    return offset < all.size() && read(all, offset, out);
  }
  std::uint32_t matches(byte_view all, std::size_t at) const;
  /// When a row was stored, where rows expire.
  static std::int64_t written_ms(byte_view all, std::size_t at);
  /// Whether the rows of a key may lie in several values.
  bool has_chunks() const {
    return !with_.retracts && !with_.counts_matches && with_.ttl_ms == 0 && !with_.has_spaces;
  }
  std::optional<state::state_namespace> first_space() const { return table_->first_namespace(); }
  status drop(state::state_namespace space) { return table_->drop_namespace(space); }

  /// Drops some rows that expired: each key is come by about twice in their time to live.
  status sweep(std::int64_t now_ms);

private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  /// Rows of a key whose matches are counted.
  struct counted_key {
    byte_string bytes;
    std::size_t index = 0; ///< of `found_`
    bool is_changed = false;
  };
  std::size_t header_bytes() const {
    return (with_.ttl_ms > 0 ? sizeof(std::int64_t) : 0) +
           (with_.counts_matches ? sizeof(std::uint32_t) : 0);
  }
  bool read(byte_view all, std::size_t& offset, joined_entry& out) const;
  bool is_expired(byte_view all, const joined_entry& entry, std::int64_t now_ms) const;
  byte_view rows_at(std::size_t index);
  counted_key& counted_at(std::size_t index);
  void map_keys();
  void find_chunks(const state::key_batch& keys, std::span<const std::uint32_t> rows);
  bool next_of_chunks(std::size_t index, std::size_t& offset, joined_entry& out);
  byte_view chunk_at(std::size_t index, std::uint32_t chunk);
  status add_to_chunks(const state::key_batch& keys, std::span<const change> changes);
  status append_chunks(const state::key_batch& keys);
  status remove(std::size_t index, byte_view encoded);
  bool copy_live(byte_view all, std::int64_t now_ms);

  setup with_;
  state::keyed_table* table_ = nullptr;
  std::int64_t now_ms_ = 0;
  state::located_rows found_;
  std::vector<std::uint32_t> key_of_; ///< by located index: of `counted_`
  std::vector<counted_key> counted_;  ///< the first `counted_size_` are of this batch
  std::size_t counted_size_ = 0;
  std::vector<std::uint32_t> buckets_;
  // Chunks of keys that were found: copies, of the piece at hand.
  struct chunk_copy {
    std::size_t index = 0;
    std::uint32_t chunk = 0;
    byte_string bytes;
  };
  const state::key_batch* keys_ = nullptr;
  std::vector<std::uint32_t> found_rows_;
  std::vector<byte_view> firsts_; ///< by located index: the rows in front of the chunks
  std::deque<chunk_copy> chunks_;
  state::located_rows chunk_found_;
  status failure_;
  // Of the own side's batch.
  state::located_rows own_;
  std::vector<std::uint32_t> rows_;
  std::vector<state::state_namespace> spaces_;
  std::vector<std::uint32_t> emptied_;
  byte_string scratch_;
  /// What is to be added to chunks of a key.
  struct chunk_addition {
    std::size_t index = 0; ///< of `own_`
    std::uint32_t last = 0;
    byte_string bytes;
  };
  std::vector<chunk_addition> additions_;
  std::unordered_map<std::uint64_t, std::size_t> addition_of_; ///< by token
  // Of the sweep.
  state::scan_cursor cursor_;
  std::optional<state::scanned_rows> piece_;
  std::int64_t next_sweep_ms_ = 0;
};

} // namespace headrace::task
