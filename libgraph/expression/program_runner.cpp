#include "libgraph/expression/kernel/column_access.hpp"
#include "libgraph/expression/program_step.hpp"
#include "libactors/base/assert.hpp"

#include <optional>

namespace headrace::graph {
namespace {

row_set as_set(const std::vector<std::uint32_t>& rows, std::size_t total) {
  return {rows.data(), rows.size(), total};
}

/// 0: FALSE, 1: TRUE, 2: NULL.
std::uint8_t truth_at(const reader<std::uint8_t>& from, std::size_t row) {
  return from.is_null(row) ? std::uint8_t{2} : from[row];
}

} // namespace

/// Values that are computed for some rows only are forgotten at its end.
class program_runner::scope {
public:
  explicit scope(program_runner& runner) : runner_(runner), begin_(runner.computed_.size()) {
    ++runner_.depth_;
  }
  ~scope() {
    --runner_.depth_;
    for (auto i = begin_; i < runner_.computed_.size(); ++i) {
      runner_.depths_[runner_.computed_[i]] = not_computed;
      runner_.values_[runner_.computed_[i]] = {};
    }
    runner_.computed_.resize(begin_);
  }
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;

private:
  program_runner& runner_;
  std::size_t begin_;
};

void program_runner::begin(const record_batch* in, const program_time& time) {
  in_ = in;
  time_ = time;
}

void program_runner::end() {
  for (const auto step : computed_) {
    depths_[step] = not_computed;
    values_[step] = {};
  }
  computed_.clear();
  in_ = nullptr;
}

const operand* program_runner::compute(std::uint32_t at, const row_set& rows) {
  if (depths_[at] != not_computed)
    return &values_[at];
  const auto& step = steps_[at];
  operand out;
  bool is_done = true;
  switch (step.kind) {
  case step_kind::column:
    HEADRACE_ASSERT(in_ != nullptr, "a column where there is no input");
    out.values = in_->column_at(step.column);
    break;
  case step_kind::constant:
    out = {step.constant, true};
    break;
  case step_kind::call:
    is_done = compute_call(at, rows, out);
    break;
  case step_kind::and_:
  case step_kind::or_:
    is_done = compute_logic(at, rows, out);
    break;
  case step_kind::choose:
    is_done = compute_choice(at, rows, out);
    break;
  case step_kind::first_valid:
    is_done = compute_first_valid(at, rows, out);
    break;
  }
  if (!is_done)
    return nullptr;
  values_[at] = std::move(out);
  depths_[at] = depth_;
  computed_.push_back(at);
  return &values_[at];
}

bool program_runner::compute_call(std::uint32_t at, const row_set& rows, operand& out) {
  const auto& step = steps_[at];
  auto& arguments = frames_[at];
  arguments.clear();
  for (const auto each : step.arguments) {
    const auto* value = compute(each, rows);
    if (value == nullptr)
      return false;
    arguments.push_back(*value);
  }
  kernel_frame frame{step.function, step.type,    arguments,          rows,
                     buffers_,      time_.now_ms, time_.watermark_ms, {}};
  out.values = step.compute(frame);
  arguments.clear();
  if (frame.has_failed()) {
    failure_ = std::move(frame.failure);
    return false;
  }
  return true;
}

bool program_runner::compute_logic(std::uint32_t at, const row_set& rows, operand& out) {
  const auto& step = steps_[at];
  const std::uint8_t dominant = step.kind == step_kind::and_ ? 0 : 1;
  auto bytes = buffers_.allocate(rows.total);
  auto* truths = bytes->mutable_as<std::uint8_t>();
  for_each_row(rows,
               [&](std::size_t row) { truths[row] = static_cast<std::uint8_t>(dominant ^ 1U); });
  std::vector<std::uint32_t> open;
  std::vector<std::uint32_t> next;
  auto pending = rows;
  for (const auto argument : step.arguments) {
    std::optional<scope> branch;
    if (pending.count < rows.count)
      branch.emplace(*this);
    const auto* value = compute(argument, pending);
    if (value == nullptr)
      return false;
    const reader<std::uint8_t> from(*value);
    next.clear();
    for_each_row(pending, [&](std::size_t row) {
      const auto truth = truth_at(from, row);
      if (truth == dominant)
        truths[row] = dominant;
      else if (truth == 2)
        truths[row] = 2;
      if (truth != dominant)
        next.push_back(static_cast<std::uint32_t>(row));
    });
    std::swap(open, next);
    pending = as_set(open, rows.total);
    if (open.empty())
      break;
  }
  const std::span<const operand> none;
  kernel_frame frame{step.function, step.type, none, rows, buffers_, 0, 0, {}};
  validity_writer validity(frame);
  for_each_row(rows, [&](std::size_t row) {
    if (truths[row] == 2) {
      truths[row] = 0;
      validity.set_null(row);
    }
  });
  out.values = make_fixed(step.type, rows.total, std::move(bytes), validity.finish());
  return true;
}

bool program_runner::compute_choice(std::uint32_t at, const row_set& rows, operand& out) {
  const auto& step = steps_[at];
  column_merger merged(step.type, rows, buffers_);
  std::vector<std::uint32_t> open;
  std::vector<std::uint32_t> next;
  std::vector<std::uint32_t> taken;
  auto pending = rows;
  std::size_t i = 0;
  for (; i + 1 < step.arguments.size() && pending.count > 0; i += 2) {
    std::optional<scope> branch;
    if (pending.count < rows.count)
      branch.emplace(*this);
    const auto* condition = compute(step.arguments[i], pending);
    if (condition == nullptr)
      return false;
    const reader<std::uint8_t> from(*condition);
    next.clear();
    taken.clear();
    for_each_row(pending, [&](std::size_t row) {
      (truth_at(from, row) == 1 ? taken : next).push_back(static_cast<std::uint32_t>(row));
    });
    if (!taken.empty()) {
      const auto chosen = taken.size() == pending.count ? pending : as_set(taken, rows.total);
      std::optional<scope> inner;
      if (chosen.count < pending.count)
        inner.emplace(*this);
      const auto* value = compute(step.arguments[i + 1], chosen);
      if (value == nullptr)
        return false;
      merged.take(*value, chosen);
    }
    std::swap(open, next);
    pending = as_set(open, rows.total);
  }
  if (pending.count > 0) {
    std::optional<scope> branch;
    if (pending.count < rows.count)
      branch.emplace(*this);
    const auto* value = compute(step.arguments.back(), pending);
    if (value == nullptr)
      return false;
    merged.take(*value, pending);
  }
  out.values = merged.finish();
  return true;
}

bool program_runner::compute_first_valid(std::uint32_t at, const row_set& rows, operand& out) {
  const auto& step = steps_[at];
  column_merger merged(step.type, rows, buffers_);
  std::vector<std::uint32_t> open;
  std::vector<std::uint32_t> next;
  std::vector<std::uint32_t> taken;
  auto pending = rows;
  for (const auto argument : step.arguments) {
    std::optional<scope> branch;
    if (pending.count < rows.count)
      branch.emplace(*this);
    const auto* value = compute(argument, pending);
    if (value == nullptr)
      return false;
    next.clear();
    taken.clear();
    for_each_row(pending, [&](std::size_t row) {
      const bool is_null = value->values->is_null(value->is_constant ? 0 : row);
      (is_null ? next : taken).push_back(static_cast<std::uint32_t>(row));
    });
    merged.take(*value, as_set(taken, rows.total));
    std::swap(open, next);
    pending = as_set(open, rows.total);
    if (open.empty())
      break;
  }
  out.values = merged.finish();
  return true;
}

bool program_runner::select(std::uint32_t at, const row_set& rows,
                            std::vector<std::uint32_t>& kept) {
  const auto& step = steps_[at];
  const bool is_conjunction =
      step.kind == step_kind::and_ || (step.kind == step_kind::call && step.function == "AND");
  if (is_conjunction && depths_[at] == not_computed) {
    std::vector<std::uint32_t> before;
    auto pending = rows;
    for (const auto argument : step.arguments) {
      std::optional<scope> branch;
      if (pending.count < rows.count)
        branch.emplace(*this);
      if (!select(argument, pending, kept))
        return false;
      std::swap(before, kept);
      pending = as_set(before, rows.total);
      if (before.empty())
        break;
    }
    std::swap(before, kept);
    return true;
  }
  const auto* value = compute(at, rows);
  if (value == nullptr)
    return false;
  const reader<std::uint8_t> from(*value);
  kept.resize(rows.count);
  std::size_t count = 0;
  // Every row is written, and stays where it is TRUE: no branch to mispredict.
  const auto keep = [&](auto is_kept) {
    for_each_row(rows, [&](std::size_t row) {
      kept[count] = static_cast<std::uint32_t>(row);
      count += is_kept(row);
    });
  };
  if (!value->values->has_nulls())
    keep([&](std::size_t row) -> std::size_t { return from[row]; });
  else
    keep([&](std::size_t row) -> std::size_t { return from.is_null(row) ? 0U : from[row]; });
  kept.resize(count);
  return true;
}

} // namespace headrace::graph
