#include "libgraph/expression/program.hpp"

#include "libgraph/expression/kernel/column_access.hpp"
#include "libgraph/expression/kernel/time_zone.hpp"
#include "libgraph/expression/program_step.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

namespace headrace::graph {

struct expression_program::parts {
  std::vector<program_step> steps;
  std::optional<std::uint32_t> condition;
  std::vector<std::uint32_t> outputs;
  std::vector<column_ptr> expanded; ///< by output: a constant at every row of the last batch
  buffer_pool buffers;
  std::optional<program_runner> runner;
  std::vector<std::uint32_t> kept;

  explicit parts(std::shared_ptr<memory_budget> memory) : buffers(std::move(memory)) {}
  const column_ptr* output(std::size_t index, const row_set& rows);
};

expression_program::expression_program(std::unique_ptr<parts> made) : parts_(std::move(made)) {}
expression_program::~expression_program() = default;
expression_program::expression_program(expression_program&&) noexcept = default;
expression_program& expression_program::operator=(expression_program&&) noexcept = default;

result<expression_program> expression_program::compile(const logical_type& input,
                                                       const expression& condition,
                                                       std::span<const expression> outputs,
                                                       const program_settings& settings) {
  auto made = std::make_unique<parts>(settings.memory);
  HEADRACE_TRY(auto zone, time_zone::find(settings.time_zone));
  program_compiler compiler(input, std::move(zone), settings.seed);
  if (!condition.is_empty()) {
    HEADRACE_TRY(made->condition, compiler.add(condition));
    if (condition.type().root() != type_root::boolean)
      return error(errc::type_mismatch,
                   "condition is no BOOLEAN: " + condition.type().nullable().to_sql());
  }
  for (const auto& each : outputs) {
    HEADRACE_TRY(const auto at, compiler.add(each));
    made->outputs.push_back(at);
  }
  made->expanded.resize(outputs.size());
  made->steps = compiler.take();
  made->runner.emplace(made->steps, made->buffers);
  return expression_program(std::move(made));
}

/// The values of an output at every row; nullptr after a failure.
const column_ptr* expression_program::parts::output(std::size_t index, const row_set& rows) {
  const auto* value = runner->compute(outputs[index], rows);
  if (value == nullptr)
    return nullptr;
  if (!value->is_constant)
    return &value->values;
  auto& whole = expanded[index];
  if (whole == nullptr || whole->size() != rows.total)
    whole = expand_constant(value->values, rows.total);
  return &whole;
}

result<record_batch> expression_program::run(const record_batch& in, const row_type_ptr& type,
                                             const program_time& time) {
  auto& all = *parts_;
  row_set rows{in.has_selection() ? in.selection().data() : nullptr, in.size(), in.row_count()};
  all.runner->begin(&in, time);
  const auto fail = [&] {
    all.runner->end();
    return *all.runner->take_failure();
  };
  auto picked = in;
  if (all.condition) {
    if (!all.runner->select(*all.condition, rows, all.kept))
      return fail();
    if (all.kept.size() < rows.count) {
      // What was computed for more rows holds for these, too.
      auto indices = buffer::allocate((all.kept.size() + 1) * sizeof(std::uint32_t));
      std::memcpy(indices->mutable_data(), all.kept.data(),
                  all.kept.size() * sizeof(std::uint32_t));
      picked = in.with_selection(std::move(indices), all.kept.size());
      rows = {picked.selection().data(), picked.size(), in.row_count()};
    }
  }
  std::vector<column_ptr> columns;
  columns.reserve(all.outputs.size());
  if (rows.count > 0)
    for (std::size_t i = 0; i < all.outputs.size(); ++i) {
      const auto* values = all.output(i, rows);
      if (values == nullptr)
        return fail();
      columns.push_back(*values);
    }
  all.runner->end();
  if (rows.count == 0)
    return record_batch();
  return picked.with_columns(type, std::move(columns));
}

bool is_constant(const expression& checked) {
  return std::all_of(checked.nodes.begin(), checked.nodes.end(), [](const expression_node& each) {
    if (const auto* call = std::get_if<function_call>(&each.form)) {
      const auto* entry = find_kernel(call->function);
      return entry == nullptr || !entry->is_volatile;
    }
    return std::holds_alternative<constant_value>(each.form);
  });
}

result<column_ptr> evaluate_constant(const expression& from, const program_settings& settings) {
  const auto no_columns = logical_type::row({});
  HEADRACE_TRY(auto zone, time_zone::find(settings.time_zone));
  program_compiler compiler(no_columns, std::move(zone), settings.seed);
  HEADRACE_TRY(const auto at, compiler.add(from));
  auto steps = compiler.take();
  buffer_pool buffers(settings.memory);
  program_runner runner(steps, buffers);
  runner.begin(nullptr, {});
  const auto* value = runner.compute(at, {nullptr, 1, 1});
  if (value == nullptr)
    return *runner.take_failure();
  return value->values;
}

} // namespace headrace::graph
