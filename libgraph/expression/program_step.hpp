#pragma once

#include "libgraph/expression/expression.hpp"
#include "libgraph/expression/kernel/kernel.hpp"
#include "libgraph/expression/program.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace headrace::graph {

/// How a step gets its value.
enum class step_kind : std::uint8_t {
  column,
  constant,
  call,       ///< a kernel over arguments that are all computed
  and_,       ///< the next argument only where those before do not decide
  or_,        //
  choose,     ///< CASE: condition, value, …, value
  first_valid ///< COALESCE: the next argument where those before are NULL
};

/// One value by row. Steps stand behind their arguments.
struct program_step {
  step_kind kind = step_kind::constant;
  logical_type type = logical_type::null();
  std::uint32_t column = 0;
  column_ptr constant;
  std::string function;
  kernel compute;
  std::vector<std::uint32_t> arguments;
  bool may_fail = false; ///< itself or an argument
  bool is_volatile = false;
};

/// Turns expressions into steps, each of them once.
class program_compiler {
public:
  program_compiler(const logical_type& input, std::shared_ptr<const time_zone> zone,
                   std::uint64_t seed)
      : input_(input), zone_(std::move(zone)), seed_(seed) {}

  /// @returns the place of the step. @errors invalid_graph, type_mismatch
  result<std::uint32_t> add(const expression& from);
  std::vector<program_step> take() { return std::move(steps_); }

private:
  using place = std::uint32_t;
  using places = std::vector<place>;

  place intern(program_step step, byte_string key);
  place constant(column_ptr value);
  result<place> call(const std::string& function, const logical_type& type, places arguments);
  result<place> cast(place value, const logical_type& type);
  result<place> strict_call(const std::string& function, const logical_type& type,
                            places arguments);
  result<place> lazy_call(step_kind kind, const std::string& function, const logical_type& type,
                          places arguments);
  result<place> null_if(const logical_type& type, const places& arguments);
  result<place> in_list(bool is_negated, const logical_type& type, const places& arguments);
  result<places> adapt(const kernel_entry& entry, const logical_type& type, places arguments);
  logical_type wanted_type(char letter, const logical_type& type, const places& arguments,
                           place argument) const;
  place finish(program_step step);
  bool is_constant(place at) const { return steps_[at].kind == step_kind::constant; }
  bool is_null(place at) const { return is_constant(at) && steps_[at].constant->is_null(0); }

  const logical_type& input_;
  std::shared_ptr<const time_zone> zone_;
  std::uint64_t seed_;
  std::vector<program_step> steps_;
  std::unordered_map<byte_string, place> known_;
};

/// Computes steps over one batch after another. Of one thread.
class program_runner {
public:
  program_runner(std::vector<program_step>& steps, buffer_pool& buffers)
      : steps_(steps), buffers_(buffers), values_(steps.size()),
        depths_(steps.size(), not_computed), frames_(steps.size()) {}

  void begin(const record_batch* in, const program_time& time);
  /// The value of a step at least at `rows`; whoever asks for fewer rows than are computed around
  /// it opens a scope first. nullptr after a failure.
  const operand* compute(std::uint32_t step, const row_set& rows);
  /// The rows for which a condition is TRUE. @returns false after a failure
  bool select(std::uint32_t step, const row_set& rows, std::vector<std::uint32_t>& kept);
  /// Lets go of all values.
  void end();
  std::optional<error> take_failure() { return std::exchange(failure_, std::nullopt); }

private:
  static constexpr std::uint32_t not_computed = 0xffffffff;
  class scope;

  bool compute_call(std::uint32_t step, const row_set& rows, operand& out);
  bool compute_logic(std::uint32_t step, const row_set& rows, operand& out);
  bool compute_choice(std::uint32_t step, const row_set& rows, operand& out);
  bool compute_first_valid(std::uint32_t step, const row_set& rows, operand& out);

  std::vector<program_step>& steps_;
  buffer_pool& buffers_;
  const record_batch* in_ = nullptr;
  program_time time_;
  std::vector<operand> values_;
  std::vector<std::uint32_t> depths_; ///< in which scope a value was computed
  std::vector<std::vector<operand>> frames_;
  std::vector<std::uint32_t> computed_; ///< steps, in order of scopes
  std::uint32_t depth_ = 0;
  std::optional<error> failure_;
};

} // namespace headrace::graph
