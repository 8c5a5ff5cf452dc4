#include "test/fuzz/decode_in_pieces.hpp"
#include "libtask/format/csv_format.hpp"

#include <cstddef>
#include <cstdint>

/// Feeds bytes to the CSV decoder, in two pieces. The first byte draws the options.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using headrace::graph::logical_type;
  if (size < 2)
    return 0;
  headrace::graph::option_map options;
  const auto drawn = data[0];
  if ((drawn & 1U) != 0)
    options["allow-quoted-newlines"] = "true";
  if ((drawn & 2U) != 0)
    options["escape-character"] = "\\";
  if ((drawn & 4U) != 0)
    options["null-literal"] = "n";
  if ((drawn & 8U) != 0)
    options["allow-comments"] = "true";
  if ((drawn & 16U) != 0)
    options["ignore-first-line"] = "true";
  if ((drawn & 32U) != 0)
    options["ignore-parse-errors"] = "true";
  static const auto type = headrace::fuzzing::row_of(
      {logical_type::string(), logical_type::bigint(), logical_type::float64(),
       logical_type::decimal(20, 4), logical_type::timestamp(6), logical_type::bytes(),
       logical_type::array(logical_type::integer())});
  headrace::fuzzing::decode_in_pieces(*headrace::task::make_csv_format(options), type,
                                      {reinterpret_cast<const char*>(data) + 2, size - 2}, data[1]);
  return 0;
}
