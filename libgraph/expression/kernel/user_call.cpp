#include "libgraph/expression/kernel/user_call.hpp"

#include "libgraph/data/gather.hpp"
#include "libgraph/expression/kernel/column_access.hpp"
#include "libgraph/user_function/user_code.hpp"

#include <utility>

namespace headrace::graph {
namespace {

/// Values by row of the columns, of values for the rows that were computed.
column_ptr spread(const column_ptr& values, const row_set& rows) {
  if (rows.is_dense())
    return values;
  std::vector<std::uint32_t> places(rows.total, 0);
  for (std::size_t i = 0; i < rows.count; ++i)
    places[rows.rows[i]] = static_cast<std::uint32_t>(i);
  return gather_column(*values, places, string_bytes::share);
}

column_ptr call(user_scalar& function, kernel_frame& frame) {
  column_builder out(frame.type);
  out.reserve(frame.rows.count);
  std::vector<user_argument> arguments;
  for (const auto& each : frame.arguments.subspan(1))
    arguments.push_back({each.values.get(), each.is_constant});
  if (const auto done = function.compute(arguments, {frame.rows.rows, frame.rows.count}, out);
      !done) {
    frame.failure = done.error();
    return out.finish();
  }
  if (frame.rows.count == 0) {
    out.append_null();
    return expand_constant(out.finish(), frame.rows.total);
  }
  return spread(out.finish(), frame.rows);
}

result<kernel> make_call(const kernel_request& request) {
  const auto malformed = [&](const std::string& why) {
    return error(errc::invalid_graph, "malformed call of a user's function: " + why);
  };
  if (request.constants.empty() || request.constants[0] == nullptr ||
      request.arguments[0].physical() != physical_type::string)
    return malformed("no function");
  HEADRACE_TRY(const auto function, decode_user_function(request.constants[0]->string_at(0)));
  if (function.form != user_form::scalar || !(function.result == request.type) ||
      function.parameters.size() + 1 != request.arguments.size())
    return malformed(function.name);
  for (std::size_t i = 0; i < function.parameters.size(); ++i)
    if (!(function.parameters[i].type.nullable() == request.arguments[i + 1].nullable()))
      return malformed("argument " + std::to_string(i + 1) + " of " + function.name);
  HEADRACE_TRY(auto made, make_user_scalar(function));
  return kernel([code = std::shared_ptr<user_scalar>(std::move(made))](kernel_frame& frame) {
    return call(*code, frame);
  });
}

constexpr kernel_entry entries[] = {
    {"USER", ".", make_call, false, true, false},
    {"VOLATILE USER", ".", make_call, false, true, true},
};

} // namespace

std::span<const kernel_entry> user_call_kernels() { return entries; }

} // namespace headrace::graph
