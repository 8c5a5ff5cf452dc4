#pragma once

#include "libstate/key/key_batch.hpp"
#include "libstate/keyed/state_description.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace headrace::state {

/// Splits a table: a window's start or end, a timer bucket; 0 for user states.
using state_namespace = std::int64_t;

/// What `locate` does with keys, and what the caller does with what it finds.
enum class access : std::uint8_t {
  read,   ///< absent stays absent; values are only read
  update, ///< absent stays absent; values may be changed
  insert, ///< absent rows are made (fixed: of zeros; variable: empty) and flagged fresh
};

/// Where the rows of one `locate` are, parallel to its `rows`. Reused from batch to batch; its
/// pointers are valid until the next call on any table of the backend (`put`, `erase` and
/// `write_back` with this located set excepted: they keep the other rows' pointers valid).
struct located_rows {
  static constexpr std::uint64_t absent = ~std::uint64_t{0};

  /// Fixed layout: the values; nullptr: absent. Several may be equal.
  std::vector<std::byte*> values;
  /// With `access::insert`: 1 where the row was made by this call, at its first occurrence only.
  std::vector<std::uint8_t> fresh;
  /// The backend's own name of each row; `absent` where there is none. Variable layout goes by it.
  std::vector<std::uint64_t> tokens;
  /// What a backend that does not hold its rows in memory stages between `locate` and `write_back`.
  std::shared_ptr<void> staged;

  std::size_t size() const { return tokens.size(); }
  bool is_absent(std::size_t index) const { return tokens[index] == absent; }
};

/// Resumes a scan. A fresh one starts at the beginning; `done` is true when nothing is left.
struct scan_cursor {
  std::uint64_t position = 0;
  bool done = false;
  /// What a backend that does not hold its rows in memory keeps from piece to piece.
  std::shared_ptr<void> held;
};

/// One piece of a namespace: keys and, row for row, values. Reused from piece to piece.
struct scanned_rows {
  explicit scanned_rows(key_batch empty) : keys(std::move(empty)) {}
  key_batch keys;
  std::vector<std::byte*> fixed;   ///< fixed layout; for reading
  std::vector<byte_view> variable; ///< variable layout
  std::size_t size() const { return keys.size(); }
};

/// All rows of one state: (namespace, key) → value, for whole batches at once.
///
/// Rows of one namespace lie together: they are scanned in bounded pieces and dropped whole without
/// being looked up. On the subtask's mailbox only. Calls fail only on backends that do I/O
/// (storage_failed), or with memory_exceeded.
///
///     operator, one batch          keys.assign(batch, key_columns)
///                                  table.locate(keys, rows, windows, access::insert, found)
///                                  function.add_fixed(batch, rows, found.values, found.fresh)
///                                  table.write_back(found)
///     watermark passes a window    while (!cursor.done) { table.scan(window, cursor, n, piece); …
///     }
///                                  table.drop_namespace(window)
class keyed_table {
public:
  virtual ~keyed_table() = default;

  virtual const state_description& description() const = 0;

  /// Finds, or makes, the rows of `rows[i]` of `keys` in `namespaces[i]`. A row may come several
  /// times (with other namespaces: sliding windows).
  virtual status locate(const key_batch& keys, std::span<const std::uint32_t> rows,
                        std::span<const state_namespace> namespaces, access mode,
                        located_rows& out) = 0;
  /// The same with one namespace for all.
  virtual status locate(const key_batch& keys, std::span<const std::uint32_t> rows,
                        state_namespace space, access mode, located_rows& out) = 0;

  /// Variable layout: reads the value of a located row; nothing when absent.
  virtual std::optional<byte_view> get(const located_rows& at, std::size_t index) = 0;
  /// Variable layout: replaces the value of a located, present row.
  virtual status put(located_rows& at, std::size_t index, byte_view value) = 0;
  /// Variable layout: appends to the value of a located, present row; amortized over appends.
  virtual status append(located_rows& at, std::size_t index, byte_view more) = 0;
  /// Makes changes through pointers durable in the backend. Call it once a `locate` with `update`
  /// or `insert`, when done with its rows. (Heap: nothing to do.)
  virtual status write_back(located_rows& at) = 0;
  /// Removes located rows by index; absent ones and repetitions are passed over.
  virtual status erase(located_rows& at, std::span<const std::uint32_t> indices) = 0;

  /// Gives up to `rows_max` further rows of a namespace. Rows made since the scan began may be
  /// missed; erasing rows that were given is allowed. An unknown namespace is empty.
  virtual status scan(state_namespace space, scan_cursor& cursor, std::size_t rows_max,
                      scanned_rows& out) = 0;
  /// Removes all rows of a namespace, in time of its pages rather than rows.
  virtual status drop_namespace(state_namespace space) = 0;
  /// The namespaces that have (or lately had) rows, ascending.
  virtual std::vector<state_namespace> namespaces() const = 0;
  /// The smallest of them, without listing all.
  virtual std::optional<state_namespace> first_namespace() const = 0;
  /// Rows of one namespace (an estimate on backends that cannot count).
  virtual std::uint64_t row_count(state_namespace space) const = 0;
  virtual std::uint64_t row_count() const = 0;
  /// Memory (or disk) that the table takes.
  virtual std::uint64_t size_bytes() const = 0;

  /// An empty piece for `scan`.
  virtual scanned_rows make_piece() const = 0;
};

} // namespace headrace::state
