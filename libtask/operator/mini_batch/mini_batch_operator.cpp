#include "libtask/operator/mini_batch/mini_batch_operator.hpp"

#include "libactors/base/assert.hpp"

#include <algorithm>
#include <utility>

namespace headrace::task {
namespace {

class mini_batch_operator final : public stream_operator {
public:
  mini_batch_operator(std::unique_ptr<stream_operator> inner, mini_batch_setup with,
                      const headrace::clock& time)
      : inner_(std::move(inner)), with_(std::move(with)), time_(time),
        bundles_(with_.inputs.size()) {}

  std::optional<state::key_schema> key_schema() const override { return inner_->key_schema(); }
  status open(const operator_states& states) override { return inner_->open(states); }

  status add(std::int32_t input, const graph::record_batch& rows) override {
    waiting_ = rows;
    waiting_input_ = static_cast<std::size_t>(input);
    next_ = 0;
    return {};
  }

  bool forwards_watermarks() const override { return false; }
  status advance(graph::watermark mark) override {
    mark_ = mark;
    is_due_ = is_due_ || count_ == 0 || mark.time_ms == graph::watermark::end;
    return {};
  }
  status change_status(graph::watermark_status state) override {
    status_ = state;
    is_due_ = true;
    return {};
  }
  status end_input(std::int32_t input) override {
    ended_.push_back(input);
    is_due_ = true;
    return {};
  }
  status prepare_barrier(checkpoint_id checkpoint) override {
    barrier_ = checkpoint;
    is_due_ = true;
    return {};
  }

  std::optional<std::int64_t> next_processing_time_ms() override {
    return count_ > 0 ? std::optional(since_ms_ + with_.spec.latency_ms) : std::nullopt;
  }
  status on_processing_time(std::int64_t /*now_ms*/) override {
    is_due_ = is_due_ || count_ > 0;
    return {};
  }

  result<drain_result> drain(operator_output& out, const drain_budget& budget) override {
    if (!is_busy_)
      HEADRACE_CHECK(take_next(out));
    if (is_busy_) {
      HEADRACE_TRY(const auto rest, inner_->drain(out, budget));
      is_busy_ = rest == drain_result::more;
    }
    return is_busy_ || is_due_ || next_ < waiting_.size() ? drain_result::more : drain_result::done;
  }

  bool is_blocked() const override { return inner_->is_blocked(); }
  void snapshot(checkpoint_id checkpoint, std::function<void(status)> done) override {
    HEADRACE_ASSERT(count_ == 0, "rows of a bundle at a checkpoint");
    inner_->snapshot(checkpoint, std::move(done));
  }
  status notify_completed(checkpoint_id checkpoint) override {
    return inner_->notify_completed(checkpoint);
  }
  status notify_aborted(checkpoint_id checkpoint) override {
    return inner_->notify_aborted(checkpoint);
  }
  void close() override { inner_->close(); }

private:
  std::size_t rows_max() const { return static_cast<std::size_t>(with_.spec.rows_max); }

  /// Gathers, and lets the inner operator begin with what is due.
  status take_next(operator_output& out) {
    if (!is_due_)
      gather();
    if (!is_due_)
      return {};
    for (const auto input : with_.inputs) {
      auto rows = take_bundle(static_cast<std::size_t>(input));
      if (rows.is_empty())
        continue;
      is_busy_ = true;
      return inner_->add(input, rows);
    }
    count_ = 0;
    is_due_ = false;
    return pass_on(out);
  }

  void gather() {
    const auto count = std::min(waiting_.size() - next_, rows_max() - count_);
    if (count > 0) {
      if (count_ == 0)
        since_ms_ = time_.wall_ms();
      const bool is_whole = count == waiting_.size();
      bundles_[waiting_input_].push_back(
          (is_whole ? waiting_ : waiting_.slice(next_, count)).compact_if_sparse());
      next_ += count;
      count_ += count;
    }
    if (next_ == waiting_.size()) {
      waiting_ = {};
      next_ = 0;
    }
    is_due_ = count_ == rows_max();
  }

  graph::record_batch take_bundle(std::size_t input) {
    auto& bundle = bundles_[input];
    if (bundle.empty())
      return {};
    auto rows = bundle.size() == 1 ? bundle.front() : graph::concatenate(bundle);
    bundle.clear();
    return with_.fold ? with_.fold(static_cast<std::int32_t>(input), std::move(rows)) : rows;
  }

  /// What came behind the rows that are through.
  status pass_on(operator_output& out) {
    if (mark_) {
      HEADRACE_CHECK(inner_->advance(*mark_));
      out.emit(*std::exchange(mark_, std::nullopt));
    }
    if (status_)
      out.emit(*std::exchange(status_, std::nullopt));
    is_busy_ = barrier_.has_value() || !ended_.empty();
    if (barrier_)
      HEADRACE_CHECK(inner_->prepare_barrier(*std::exchange(barrier_, std::nullopt)));
    for (const auto input : std::exchange(ended_, {}))
      HEADRACE_CHECK(inner_->end_input(input));
    return {};
  }

  std::unique_ptr<stream_operator> inner_;
  mini_batch_setup with_;
  const headrace::clock& time_;
  std::vector<std::vector<graph::record_batch>> bundles_; ///< by input
  std::size_t count_ = 0;                                 ///< rows of all bundles
  std::int64_t since_ms_ = 0;                             ///< when the first of them came
  graph::record_batch waiting_; ///< of which those before `next_` are taken
  std::size_t waiting_input_ = 0;
  std::size_t next_ = 0;
  bool is_due_ = false;  ///< the bundles are worked on
  bool is_busy_ = false; ///< the inner operator drains
  std::optional<graph::watermark> mark_;
  std::optional<graph::watermark_status> status_;
  std::optional<checkpoint_id> barrier_;
  std::vector<std::int32_t> ended_;
};

} // namespace

std::unique_ptr<stream_operator> gather_rows(std::unique_ptr<stream_operator> inner,
                                             mini_batch_setup with, const headrace::clock& time) {
  return std::make_unique<mini_batch_operator>(std::move(inner), std::move(with), time);
}

} // namespace headrace::task
