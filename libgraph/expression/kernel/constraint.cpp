#include "libgraph/expression/kernel/map.hpp"
#include "libgraph/expression/kernel/utf8.hpp"
#include "libactors/base/data_errc.hpp"

#include <string>
#include <utility>

// What tables ask of the rows that are written into them. Not to be called in SQL: the last
// argument is the column's name, a constant.
namespace headrace::graph {
namespace {

std::string column_name(const kernel_request& request) {
  const auto& given = request.constants.back();
  return given == nullptr ? std::string() : std::string(given->string_at(0));
}

bool is_text(const logical_type& type) {
  return type.root() == type_root::character || type.root() == type_root::varchar;
}

bool has_fixed_length(const logical_type& type) {
  return type.root() == type_root::character || type.root() == type_root::binary;
}

std::size_t length_of(const logical_type& type, std::string_view value) {
  return is_text(type) ? count_points(value) : value.size();
}

/// The values as they are, none of which is NULL.
result<kernel> make_not_null(const kernel_request& request) {
  if (request.arguments.size() != 2 || request.type.physical() != request.arguments[0].physical())
    return unfit(request);
  return kernel([name = column_name(request)](kernel_frame& frame) -> column_ptr {
    const auto values = operand_as_column(frame, 0);
    for_each_row(frame.rows, [&](std::size_t row) {
      if (values->is_null(row) && !frame.has_failed())
        frame.failure =
            error(data_errc::constraint_violated,
                  "Column '" + name +
                      "' is NOT NULL, however, a null value is being written into it. You can set "
                      "job configuration 'table.exec.sink.not-null-enforcer'='DROP' to suppress "
                      "this exception and drop such records silently.");
    });
    auto content = values->content();
    content.validity.reset(); // of rows that are left out
    return column::make(frame.type, std::move(content));
  });
}

/// Texts and bytes that have a length of the type, else it fails.
result<kernel> make_length(const kernel_request& request) {
  if (request.arguments.size() != 2 || request.type.physical() != physical_type::string)
    return unfit(request);
  return kernel([name = column_name(request)](kernel_frame& frame) -> column_ptr {
    const reader<std::string_view> values(frame.arguments[0]);
    const auto wanted = static_cast<std::size_t>(frame.type.precision());
    for_each_row(frame.rows, [&](std::size_t row) {
      if (values.is_null(row) || frame.has_failed())
        return;
      const auto length = length_of(frame.type, values[row]);
      if (length > wanted || (length < wanted && has_fixed_length(frame.type)))
        frame.failure = error(data_errc::constraint_violated,
                              "Column '" + name + "' is " + frame.type.nullable().to_sql() +
                                  ", however, a string of length " + std::to_string(length) +
                                  " is being written into it. You can set job configuration "
                                  "'table.exec.sink.type-length-enforcer' to control this "
                                  "behaviour.");
    });
    return column::make(frame.type, operand_as_column(frame, 0)->content());
  });
}

/// Texts and bytes cut to the length of the type, and filled up where that is fixed.
result<kernel> make_trimmed(const kernel_request& request) {
  if (request.arguments.size() != 2 || request.type.physical() != physical_type::string)
    return unfit(request);
  return kernel([](kernel_frame& frame) {
    frame.arguments = frame.arguments.first(1);
    const auto wanted = static_cast<std::size_t>(frame.type.precision());
    return map_text<std::string_view>(frame, [&](text_result& out, std::string_view value) {
      const auto length = length_of(frame.type, value);
      if (length > wanted)
        value = value.substr(0, is_text(frame.type) ? byte_of_point(value, wanted) : wanted);
      out.text.assign(value);
      if (length < wanted && has_fixed_length(frame.type))
        out.text.append(wanted - length, is_text(frame.type) ? ' ' : '\0');
      return true;
    });
  });
}

constexpr kernel_entry entries[] = {
    {"$NOT NULL", ".", make_not_null, false, true},
    {"$LENGTH", ".", make_length, false, true},
    {"$TRIM_PAD", ".", make_trimmed, false, false},
};

} // namespace

std::span<const kernel_entry> constraint_kernels() { return entries; }

} // namespace headrace::graph
