// Warns of an account when a small transaction is followed, within a minute, by a large one.
//
//     headrace run libfraud_detector.so [-- --count N --rate ROWS_PER_SECOND]

#include "libgraph/api/headrace.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace api = headrace::api;
using namespace std::chrono_literals;

struct transaction {
  std::int64_t account = 0;
  api::timestamp_ms time;
  double amount = 0;
};
HEADRACE_STRUCT(transaction, account, time, amount)

struct alert {
  std::int64_t account = 0;
  double amount = 0;
};
HEADRACE_STRUCT(alert, account, amount)

class fraud_detector final : public api::keyed_process_function<std::int64_t, transaction, alert> {
public:
  static constexpr double small = 1.00;
  static constexpr double large = 500.00;
  static constexpr std::int64_t minute_ms = 60'000;

  void open(api::open_context& context) override {
    was_small_ = context.value<bool>("was small");
    timer_ms_ = context.value<std::int64_t>("timer");
  }

  void process(const transaction& in, context_type& context, api::collector<alert>& out) override {
    if (was_small_.has_value()) {
      if (in.amount > large)
        out.emit({in.account, in.amount});
      forget(context);
    }
    if (in.amount < small) {
      was_small_.set(true);
      const auto timer_ms = context.timestamp() + minute_ms;
      context.register_event_timer(timer_ms);
      timer_ms_.set(timer_ms);
    }
  }

  void on_timer(std::int64_t, context_type&, api::collector<alert>&) override {
    timer_ms_.clear();
    was_small_.clear();
  }

private:
  void forget(context_type& context) {
    if (const auto timer_ms = timer_ms_.get())
      context.delete_event_timer(*timer_ms);
    timer_ms_.clear();
    was_small_.clear();
  }

  api::value_state<bool> was_small_;
  api::value_state<std::int64_t> timer_ms_;
};

/// The i-th transaction, ten seconds after the one before it; now and then a small one, then a
/// large one.
static transaction transaction_at(std::uint64_t i) {
  const auto account = static_cast<std::int64_t>(i % 5);
  const auto turn = i / 5 % 7;
  const double amount = turn == 3 ? 0.5 : turn == 4 ? 600.0 : 20.0 + static_cast<double>(i % 100);
  return {account, {static_cast<std::int64_t>(i) * 10'000}, amount};
}

HEADRACE_JOB(env) {
  const auto count = static_cast<std::uint64_t>(env.arguments().get_int("count", 1000));
  const auto rate = env.arguments().get_real("rate", 0);

  env.set_job_name("fraud detection");
  env.from_source(api::generator_source<transaction>(transaction_at, count, rate),
                  api::watermark_strategy<transaction>::monotonous().with_timestamp_assigner(
                      &transaction::time),
                  "transactions")
      .set_parallelism(1) // so that the transactions of an account keep their order
      .key_by(&transaction::account)
      .process(fraud_detector())
      .name("fraud detector")
      .uid("fraud-detector")
      .collect();
}
