#pragma once

#include "libgraph/connector/format.hpp"
#include "libgraph/data/batch_builder.hpp"
#include "libactors/base/option.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headrace::task {

/// What one field of a generated row is made of. A value.
struct field_generator {
  bool is_sequence = false;
  std::int64_t start = 0;          ///< sequence
  std::optional<std::int64_t> end; ///< sequence; its last value
  double least = 0;                ///< random real
  double most = 0;
  std::int64_t least_integer = 0; ///< random whole number
  std::int64_t most_integer = 0;
  std::uint64_t length = 100; ///< random text
  bool varies_length = false;
  std::int64_t past_max_ms = 0; ///< random timestamp: now, or up to so much before
  double null_rate = 0;
  std::vector<field_generator> children; ///< of a row, one each

  /// What `parse` takes, behind "fields.#.".
  static std::span<const option_declaration> declared();
  /// @param options  by attribute; those of a row's fields as "NAME.ATTRIBUTE"
  /// @errors bad_option_value, unknown_option, type_mismatch
  static result<field_generator> parse(const graph::logical_type::field& field,
                                       const graph::option_map& options);
  /// Appends the value at `index`; `dice` are random bits of this field and index.
  void append(const graph::logical_type& type, std::uint64_t index, std::uint64_t dice,
              std::int64_t now_ms, graph::column_builder& out) const;
};

/// Sorts "NAME.ATTRIBUTE" options by the row's field; a name may hold dots.
/// @errors unknown_option
result<std::map<std::string, graph::option_map>> options_by_field(const graph::option_map& options,
                                                                  const graph::logical_type& row);

} // namespace headrace::task
