#include "test/support/operator_harness.hpp"

#include "libstate/registry/state_backends.hpp"
#include "libactors/base/assert.hpp"

namespace headrace::testing {

class operator_harness::output final : public task::operator_output {
public:
  explicit output(operator_harness& owner) : owner_(owner) {}
  void emit(graph::record_batch rows) override { owner_.main_.push_back(std::move(rows)); }
  void emit_side(std::int32_t side, graph::record_batch rows) override {
    owner_.sides_[side].push_back(std::move(rows));
  }
  void emit(graph::watermark) override {}
  void emit(graph::watermark_status) override {}

private:
  operator_harness& owner_;
};

class operator_harness::services final : public task::operator_services {
public:
  void run_blocking(std::function<void()> step, std::function<void()> then) override {
    step();
    then();
  }
  void after(std::chrono::milliseconds, std::function<void()>) override {}
  void send_to_coordinator(operator_id, byte_string) override {}
  void fail(error cause) override { HEADRACE_ASSERT(false, to_string(cause).c_str()); }
};

operator_harness::operator_harness(graph::operator_node node, const maker& make,
                                   graph::function_table functions, std::string_view backend)
    : node_(std::move(node)), services_(std::make_unique<services>()) {
  auto code = std::make_shared<graph::job_code>();
  code->functions = std::move(functions);
  context_ = std::make_unique<task::operator_context>(task::operator_context{"harness",
                                                                             0,
                                                                             1,
                                                                             128,
                                                                             0,
                                                                             false,
                                                                             clock_,
                                                                             files_,
                                                                             connectors_,
                                                                             *services_,
                                                                             metrics_,
                                                                             std::move(code),
                                                                             nullptr,
                                                                             {}});
  auto made = make(node_, *context_);
  HEADRACE_ASSERT(made.has_value(), "the operator was not made");
  operator_ = std::move(*made);
  task::operator_states states;
  if (const auto schema = operator_->key_schema()) {
    backends_ = std::move(*state::make_state_backend(backend));
    state::keyed_backend_setup setup{
        *schema, 128, {0, 128}, &clock_, &files_, nullptr, scratch_.path() + "/state", "state"};
    keyed_ = std::move(*backends_->make(std::move(setup)));
    states.keyed = keyed_.get();
  }
  HEADRACE_ASSERT(operator_->open(states).has_value(), "the operator did not open");
}

operator_harness::~operator_harness() { operator_->close(); }

status operator_harness::drain() {
  output out(*this);
  while (true) {
    ++drains_;
    HEADRACE_TRY(const auto left, operator_->drain(out, budget_));
    if (left == task::drain_result::done)
      return {};
  }
}

status operator_harness::push(const graph::record_batch& rows) {
  HEADRACE_CHECK(operator_->add(0, rows));
  return drain();
}

status operator_harness::advance(std::int64_t watermark_ms) {
  HEADRACE_CHECK(operator_->advance(graph::watermark{watermark_ms}));
  return drain();
}

status operator_harness::end_input() {
  HEADRACE_CHECK(operator_->end_input(0));
  return drain();
}

std::vector<graph::record_batch> operator_harness::take_side(std::int32_t side) {
  return std::exchange(sides_[side], {});
}

} // namespace headrace::testing
