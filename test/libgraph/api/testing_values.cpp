#include "test/libgraph/api/testing_values.hpp"

namespace headrace::testing {

graph::record_batch selected(const graph::record_batch& batch,
                             const std::vector<std::uint32_t>& rows) {
  auto indices = graph::buffer::allocate(rows.size() * sizeof(std::uint32_t));
  std::copy(rows.begin(), rows.end(), indices->mutable_as<std::uint32_t>());
  return batch.with_selection(indices, rows.size());
}

row_run run_rows(graph::row_function& function, const graph::record_batch& in,
                 graph::row_type_ptr out, std::size_t rows_max,
                 const std::vector<graph::row_type_ptr>& sides) {
  row_run run;
  graph::batch_builder main(std::move(out));
  std::vector<graph::batch_builder> side_builders;
  for (const auto& type : sides)
    side_builders.emplace_back(type);
  graph::function_output output(main, side_builders, rows_max, std::size_t{1} << 30U);
  std::size_t from = 0;
  while (from < in.size()) {
    from = function.process(in, from, output);
    run.pieces.push_back(main.finish());
  }
  for (auto& side : side_builders)
    run.sides.push_back(side.finish());
  return run;
}

} // namespace headrace::testing
