#pragma once

#include "libgraph/data/batch_builder.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::graph {

/// What a malformed record gets.
enum class malformed_policy : std::uint8_t {
  fail, ///< `malformed_record`, with file, line and column
  skip, ///< left out, counted
};

/// Options of a connector or format by key. Each connector declares what it knows.
using option_map = std::map<std::string, std::string>;

/// A record that was left out: where it lies in the bytes of a decode call, and why.
struct left_out_record {
  std::size_t begin = 0;
  std::size_t size = 0; ///< without the line break behind it
  std::string reason;
};

/// Where the bytes of a decode call come from, for errors.
struct decode_origin {
  std::string file;
  std::uint64_t offset = 0;                         ///< of the first byte, in the file
  std::uint64_t line = 0;                           ///< of the first byte, from 1; 0: unknown
  std::vector<left_out_record>* left_out = nullptr; ///< gets those that are skipped; null: nobody
};

/// How far a decode call came.
struct decoded {
  std::size_t bytes = 0;   ///< consumed: whole records only
  std::size_t skipped = 0; ///< malformed records left out
  std::uint64_t lines = 0; ///< line breaks consumed
};

/// Turns bytes into rows. Made for one reader; not thread-safe; keeps no bytes between calls.
class decoder {
public:
  virtual ~decoder() = default;
  /// Decodes whole records from the front of `input` until `rows_max` rows are in `out` or the
  /// rest is no whole record; at `last` the rest is a record even without a line break. String
  /// columns may share `owner`'s bytes instead of copying them.
  /// @errors malformed_record  when the policy is fail
  virtual result<decoded> decode(byte_view input, bool last, const decode_origin& origin,
                                 std::size_t rows_max, const buffer_ptr& owner,
                                 batch_builder& out) = 0;
};

/// Turns rows into bytes.
class encoder {
public:
  virtual ~encoder() = default;
  virtual status encode(const record_batch& rows, byte_string& out) = 0;
};

/// Makes decoders and encoders of one format ("lines", "csv", "json").
class format {
public:
  virtual ~format() = default;
  /// Each record ends at a line break and has none inside: a file can be read from any line on, by
  /// several readers at once.
  virtual bool is_splittable() const { return true; }
  /// Makes a decoder of records with the fields of `record` that produces rows of `produced`: some
  /// of these fields, in any order. The values of the others are passed over: neither decoded nor
  /// checked.
  /// @errors type_mismatch  the format has no such records, or no such fields of them
  virtual result<std::unique_ptr<decoder>> create_decoder(row_type_ptr record,
                                                          row_type_ptr produced) const = 0;
  /// Makes a decoder that produces all fields.
  result<std::unique_ptr<decoder>> create_decoder(const row_type_ptr& type) const {
    return create_decoder(type, type);
  }
  virtual result<std::unique_ptr<encoder>> create_encoder(row_type_ptr type) const = 0;
};

} // namespace headrace::graph
