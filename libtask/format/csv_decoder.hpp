#pragma once

#include "libtask/format/csv_options.hpp"
#include "libtask/format/csv_scanner.hpp"
#include "libgraph/connector/format.hpp"

#include <optional>
#include <string>

namespace headrace::task {

/// Turns CSV into rows. Made for one reader; not thread-safe.
class csv_decoder final : public graph::decoder {
public:
  csv_decoder(csv_options options, graph::row_type_ptr type)
      : options_(std::move(options)), type_(std::move(type)) {}

  result<graph::decoded> decode(byte_view input, bool last, const graph::decode_origin& origin,
                                std::size_t rows_max, const graph::buffer_ptr& owner,
                                graph::batch_builder& out) override;

private:
  enum class record_end : std::uint8_t { row, no_record, incomplete, malformed };
  /// Why a record is malformed, and where.
  struct fault {
    std::string reason;
    std::size_t at = 0; ///< in the input
  };

  std::optional<std::size_t> header_bytes(byte_view input, bool last,
                                          const graph::decode_origin& origin) const;
  record_end decode_record(csv_scanner& in, graph::batch_builder& out);
  record_end fail_record(std::size_t at, std::string reason);
  bool append(const graph::logical_type& type, const csv_field& field,
              graph::column_builder& out) const;
  bool append_nested(const graph::logical_type& type, std::string_view text,
                     graph::column_builder& out) const;
  bool is_null(const graph::logical_type& type, std::string_view text) const;
  std::string describe(std::size_t column, const csv_field& field) const;

  csv_options options_;
  graph::row_type_ptr type_;
  bool shared_ = false;
  fault fault_;
};

/// Tells when the format cannot hold a row of the type. @errors type_mismatch
status check_csv_type(const graph::logical_type& type);

} // namespace headrace::task
