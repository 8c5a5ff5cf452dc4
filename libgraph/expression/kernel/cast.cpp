#include "libgraph/expression/kernel/cast.hpp"

#include "libgraph/data/batch_builder.hpp"
#include "libgraph/expression/kernel/map.hpp"

namespace headrace::graph {
namespace {

bool is_number_or_flag(const logical_type& type) {
  return type.root() >= type_root::boolean && type.root() <= type_root::decimal;
}

bool is_text(const logical_type& type) {
  return type.root() == type_root::character || type.root() == type_root::varchar;
}
bool is_binary(const logical_type& type) {
  return type.root() == type_root::binary || type.root() == type_root::varbinary;
}
bool is_date_or_time(const logical_type& type) {
  return type.root() >= type_root::date && type.root() <= type_root::timestamp_ltz;
}
bool is_interval(const logical_type& type) {
  return type.root() == type_root::interval_year_month ||
         type.root() == type_root::interval_day_time;
}
bool is_integer(const logical_type& type) {
  return type.root() >= type_root::tinyint && type.root() <= type_root::bigint;
}

/// An interval as the integer it is stored as, or back.
result<kernel> make_interval_cast(const kernel_request& request) {
  const auto plain = [](const logical_type& type) {
    if (!is_interval(type))
      return type;
    return type.physical() == physical_type::int32 ? logical_type::integer()
                                                   : logical_type::bigint();
  };
  const logical_type from[] = {plain(request.arguments[0])};
  return make_number_cast(
      {request.function, from, request.constants, plain(request.type), request.zone});
}

/// A value of NULL's type is NULL of any.
column_ptr all_null(kernel_frame& frame) {
  column_builder one(frame.type.nullable());
  one.append_null();
  return column::make(frame.type, expand_constant(one.finish(), frame.rows.total)->content());
}

result<kernel> make_cast(const kernel_request& request) {
  if (request.arguments.size() != 1)
    return unfit(request);
  const auto& from = request.arguments[0];
  if (from.nullable() == request.type.nullable())
    return kernel(retyped);
  if (from.root() == type_root::null)
    return kernel(all_null);
  if (is_number_or_flag(from) && is_number_or_flag(request.type))
    return make_number_cast(request);
  if (is_text(request.type) || (is_binary(request.type) && (is_text(from) || is_binary(from))))
    return make_cast_to_text(request);
  if (is_text(from))
    return make_cast_from_text(request);
  if (is_date_or_time(from) && is_date_or_time(request.type))
    return make_time_cast(request);
  if ((is_interval(from) && (is_integer(request.type) || request.type.root() == from.root())) ||
      (is_integer(from) && is_interval(request.type)))
    return make_interval_cast(request);
  if (from.storage_child_count() > 0 && from.root() == request.type.root())
    return make_nested_cast(request);
  return error(errc::type_mismatch, "no cast from " + from.nullable().to_sql() + " to " +
                                        request.type.nullable().to_sql());
}

constexpr kernel_entry entries[] = {
    {"CAST", ".", make_cast, true, true},
    {"TRY_CAST", ".", make_cast},
};

} // namespace

column_ptr retyped(const kernel_frame& frame) {
  const auto& from = frame.arguments[0];
  auto out = column::make(frame.type, from.values->content());
  return from.is_constant ? expand_constant(out, frame.rows.total) : out;
}

std::span<const kernel_entry> cast_kernels() { return entries; }

} // namespace headrace::graph
