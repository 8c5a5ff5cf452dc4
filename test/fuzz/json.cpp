#include "test/fuzz/decode_in_pieces.hpp"
#include "libtask/format/json_format.hpp"

#include <cstddef>
#include <cstdint>

/// Feeds bytes to the JSON decoder, in two pieces. The first byte draws the options.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using headrace::graph::logical_type;
  if (size < 2)
    return 0;
  headrace::graph::option_map options;
  if ((data[0] & 1U) != 0)
    options["ignore-parse-errors"] = "true";
  if ((data[0] & 2U) != 0)
    options["fail-on-missing-field"] = "true";
  static const auto type = headrace::fuzzing::row_of(
      {logical_type::string(), logical_type::bigint(), logical_type::float64(),
       logical_type::timestamp(3), logical_type::bytes(),
       logical_type::array(logical_type::row({{"a", logical_type::string(), ""}})),
       logical_type::map(logical_type::string(), logical_type::bigint())});
  headrace::fuzzing::decode_in_pieces(*headrace::task::make_json_format(options), type,
                                      {reinterpret_cast<const char*>(data) + 2, size - 2}, data[1]);
  return 0;
}
