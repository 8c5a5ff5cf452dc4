// Tells of trades whose price is outside the bounds that a rule sets for the stock. Rules come
// while the job runs, and each subtask gets all of them.
//
//     headrace run libstock_rules.so -- --trades apps/examples/data/trades.csv
//       --rules apps/examples/data/stock_rules.csv
//
// Lines of the trades: stock,time in milliseconds,price. Lines of the rules: time from which it
// holds,stock,least price,most price. A trade waits until event time has passed it in both files,
// so that the result does not depend on which of them is read first.

#include "libgraph/api/headrace.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace api = headrace::api;

struct trade {
  std::string stock;
  std::int64_t time_ms = 0;
  double price = 0;
};
HEADRACE_STRUCT(trade, stock, time_ms, price)

struct rule {
  std::int64_t from_ms = 0;
  std::string stock;
  double least = 0;
  double most = 0;
};
HEADRACE_STRUCT(rule, from_ms, stock, least, most)

struct finding {
  std::int64_t time_ms = 0;
  std::string stock;
  double price = 0;
  std::int64_t times = 0; ///< that the stock was out of bounds so far
};
HEADRACE_STRUCT(finding, time_ms, stock, price, times)

/// All rules, by their stock and the time from which they hold.
using rule_key = std::pair<std::string, std::int64_t>;
const api::map_state_descriptor<rule_key, rule> all_rules{"rules"};

class stock_rules final
    : public api::keyed_broadcast_process_function<std::string, trade, rule, finding> {
public:
  void open(api::open_context& context) override {
    waiting_ = context.list<trade>("waiting");
    times_ = context.value<std::int64_t>("times");
    findings_ = context.sum_accumulator<std::int64_t>("findings");
    highest_ = context.max_accumulator<double>("highest price");
  }

  void process(const trade& in, read_only_context_type& context,
               api::collector<finding>&) override {
    waiting_.add(in);
    highest_.add(in.price);
    context.register_event_timer(in.time_ms);
  }

  void process_broadcast(const rule& in, context_type& context, api::collector<finding>&) override {
    context.state(all_rules).put({in.stock, in.from_ms}, in);
  }

  void on_timer(std::int64_t time_ms, read_only_context_type& context,
                api::collector<finding>& out) override {
    rule held;
    bool is_held = false;
    context.state(all_rules).for_each([&](const rule_key&, const rule& each) {
      if (each.stock != context.key() || each.from_ms > time_ms ||
          (is_held && each.from_ms < held.from_ms))
        return;
      held = each;
      is_held = true;
    });
    std::vector<trade> later;
    for (const auto& each : waiting_.get()) {
      if (each.time_ms > time_ms) {
        later.push_back(each);
        continue;
      }
      if (!is_held || (each.price >= held.least && each.price <= held.most))
        continue;
      times_.set(times_.value_or(0) + 1);
      findings_.add(1);
      out.emit({each.time_ms, each.stock, each.price, *times_.get()});
    }
    waiting_.set(later);
  }

private:
  api::list_state<trade> waiting_;
  api::value_state<std::int64_t> times_;
  api::accumulator<std::int64_t> findings_; // told when the job has ended, over all subtasks
  api::accumulator<double> highest_;
};

HEADRACE_JOB(env) {
  const auto trades_path = env.arguments().get("trades");
  const auto rules_path = env.arguments().get("rules");

  env.set_job_name("stock rules");
  const auto trades = env.from_source(
      api::file_source::csv<trade>(trades_path),
      api::watermark_strategy<trade>::monotonous().with_timestamp_assigner(&trade::time_ms),
      "trades");
  const auto rules = env.from_source(
      api::file_source::csv<rule>(rules_path),
      api::watermark_strategy<rule>::monotonous().with_timestamp_assigner(&rule::from_ms), "rules");

  trades.key_by(&trade::stock)
      .connect(rules.broadcast(all_rules))
      .process(stock_rules())
      .name("stock rules")
      .uid("stock-rules")
      .collect();
}
