#pragma once

#include "libtask/format/json_options.hpp"
#include "libgraph/connector/format.hpp"

#include <string>

namespace headrace::task {

/// Turns rows into JSON lines. Made for one writer; not thread-safe.
class json_encoder final : public graph::encoder {
public:
  json_encoder(json_options options, graph::row_type_ptr type);

  /// @errors output_unusable  a map's key is NULL, and the options do not say what to do
  status encode(const graph::record_batch& rows, byte_string& out) override;

private:
  status write_value(const graph::column& values, std::size_t row, byte_string& out);
  status write_map(const graph::column& values, std::size_t row, byte_string& out);
  /// Whether the key at hand, in `scratch_`, is a later one's, too.
  bool comes_again(const graph::column& keys, std::size_t at, std::size_t end);
  status write_row(const graph::column& values, std::size_t row, byte_string& out);
  void write_scalar_value(const graph::column& values, std::size_t row, byte_string& out);

  json_options options_;
  graph::row_type_ptr type_;
  std::vector<std::string> names_; ///< of the outermost fields, quoted, with the colon
  std::string scratch_;
};

/// Appends `text` as a JSON string, with its quotes.
void append_json_string(std::string_view text, byte_string& out);

} // namespace headrace::task
