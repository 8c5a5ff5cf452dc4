#include "libtask/operator/aggregate/make_aggregate.hpp"

#include "libtask/operator/aggregate/builtin_aggregate.hpp"

namespace headrace::task {

result<std::unique_ptr<graph::aggregate_function>>
make_aggregate(const graph::aggregation& wanted, const graph::logical_type& input,
               const graph::logical_type& output, std::span<const std::int32_t> key_columns,
               const operator_context& context) {
  if (!wanted.function.is_none())
    return make_function<graph::aggregate_function>(context, wanted.function);
  return builtin_aggregate::make(wanted.calls, input, output, key_columns);
}

} // namespace headrace::task
