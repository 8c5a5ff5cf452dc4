#pragma once

#include "libtask/format/csv_options.hpp"
#include "libtask/format/csv_scanner.hpp"
#include "libtask/format/scalar_text.hpp"
#include "libgraph/connector/format.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headrace::task {

/// Turns CSV into rows. Made for one reader; not thread-safe.
class csv_decoder final : public graph::decoder {
public:
  /// `record`: the fields of a record. `produced`: those of them that become columns; the text of
  /// the others is not looked at.
  csv_decoder(csv_options options, graph::row_type_ptr record, const graph::logical_type& produced);

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
  /// A field of the record.
  struct field_plan {
    explicit field_plan(const graph::logical_type& type) : value(type) {}
    scalar_reader value;
    int column = -1; ///< of the batch; -1: is skipped
    bool is_nested = false;
    std::vector<scalar_reader> elements; ///< of a list one, of a row one a field
  };

  bool append(field_plan& plan, const csv_field& field, graph::batch_builder& out) const;
  /// NULL in place of a field that could not be read, where the options say so.
  bool append_null_instead(const field_plan& plan, graph::batch_builder& out) const;
  bool append_nested(field_plan& plan, std::string_view text, graph::column_builder& out) const;
  bool is_null(const scalar_reader& value, std::string_view text) const;
  std::string describe(std::size_t field_index, const csv_field& field) const;

  csv_options options_;
  graph::row_type_ptr record_;
  std::vector<field_plan> fields_;
  bool shared_ = false;
  fault fault_;
};

/// Tells when the format cannot hold a row of the type. @errors type_mismatch
status check_csv_type(const graph::logical_type& type);

} // namespace headrace::task
