#pragma once

#include "libtask/format/csv_options.hpp"
#include "libgraph/connector/format.hpp"

#include <array>
#include <string>
#include <string_view>

namespace headrace::task {

/// Turns rows into CSV, quoting where needed. Made for one writer; not thread-safe.
class csv_encoder final : public graph::encoder {
public:
  csv_encoder(csv_options options, graph::row_type_ptr type);

  /// @errors output_unusable  a value that the options leave no way to write
  status encode(const graph::record_batch& rows, byte_string& out) override;

private:
  status write_field(const graph::column& values, std::size_t row, bool first, byte_string& out);
  status write_nested(const graph::column& values, std::size_t row);
  status write_element(const graph::column& values, std::size_t row);
  bool needs_quotes(std::string_view text, bool first) const;
  status write_text(std::string_view text, bool quoted, byte_string& out) const;

  csv_options options_;
  graph::row_type_ptr type_;
  bool scalars_are_plain_;
  std::array<bool, 256> is_special_{}; ///< letters for which a text is quoted
  std::string scratch_;
};

} // namespace headrace::task
