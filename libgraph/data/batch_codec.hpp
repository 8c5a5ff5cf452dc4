#pragma once

#include "libgraph/data/record_batch.hpp"
#include "libactors/base/bytes.hpp"
#include "libactors/base/result.hpp"
#include "libactors/base/shared_bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace headrace::graph {

/// Writes a batch as bytes that are read in place: the buffers of its columns, each at a multiple
/// of 64. Only selected rows, and of strings only the bytes that they name. The same rows give the
/// same bytes, however they lay before. The type is not written: both ends know it.
///
///     header   magic, header size, rows, flags; then for each column (fields and elements behind
///              their parent): rows, whether it has validity, the sizes of its string data
///     body     timestamps, kinds; then for each column validity, values, string data
///     padding  64 bytes, so that wide loads may pass the end
class batch_encoding {
public:
  /// How a column of strings is written.
  struct string_plan {
    bool is_in_place = false;   ///< its slots as they are, and `bytes` at `data` behind them
    const char* data = nullptr; ///< of its long strings
    std::size_t bytes = 0;
  };

  /// Shares the batch; nothing is copied yet, but where rows are selected.
  explicit batch_encoding(const record_batch& batch);

  std::size_t size_bytes() const { return size_bytes_; }
  /// Fills size_bytes() bytes.
  void write_to(std::byte* out) const;
  /// The same bytes in pieces: long runs where they lie, in buffers that the pieces hold alive;
  /// what is between them copied into one buffer, charged to `budget` (null: not counted).
  std::vector<shared_bytes> pieces(std::shared_ptr<memory_budget> budget) const;

private:
  template <class Writer>
  void put(Writer& out) const;

  record_batch batch_;
  byte_string header_;
  std::size_t size_bytes_ = 0;
  std::size_t shared_bytes_ = 0;     ///< of them in long runs
  std::vector<string_plan> strings_; ///< a column of strings, fields and elements behind parents
};

/// Rows in one batch at most, in decoded bytes.
inline constexpr std::size_t batch_rows_max = std::size_t{1} << 26U;

byte_string encode_batch(const record_batch& batch);

/// Reads a batch of the given type. Every size, offset and view is checked.
///
/// @param owner  keeps `bytes` alive: the columns then lie in place when `bytes` is aligned to 64.
///               Without it, or unaligned, the bytes are copied once.
/// @errors malformed_message  bytes that `batch_encoding` cannot have written for this type
result<record_batch> decode_batch(row_type_ptr type, byte_view bytes,
                                  std::shared_ptr<const void> owner = nullptr);

} // namespace headrace::graph
