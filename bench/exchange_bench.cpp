// Measures local exchanges on real threads: producers with a result partition, mail, and consumers
// with an input gate, as in subtasks but without operators. Prints one JSON line a measurement.
// Argument: millions of rows a producer (default 40).

#include "libtask/input/input_gate.hpp"
#include "libtask/network/exchange_mail.hpp"
#include "libtask/network/local_consumer.hpp"
#include "libtask/network/result_partition.hpp"
#include "libgraph/data/batch_builder.hpp"
#include "libactors/base/ids.hpp"
#include "libactors/rpc/endpoint.hpp"
#include "libactors/rpc/node.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace headrace::task {
namespace {

constexpr std::size_t batch_rows = 4096;
constexpr std::size_t batches_a_turn = 16;
constexpr std::size_t distinct_batches = 64;

/// What the actors of one measurement share.
struct exchange_run {
  std::vector<graph::record_batch> batches;
  std::size_t batches_a_producer = 0;
  std::atomic<std::size_t> consumers_left{0};
  std::atomic<std::uint64_t> rows{0};
  std::atomic<std::uint64_t> batches_seen{0};
  std::promise<void> ended;
};

class producer final : public actors::endpoint {
public:
  producer(std::shared_ptr<exchange_run> run, std::unique_ptr<partitioner> split,
           std::uint32_t consumers)
      : run_(std::move(run)), partition_(std::move(split), consumers) {}

private:
  void on_mail(actors::mail_ptr content) override {
    if (static_cast<mail_kind>(content->kind()) == mail_kind::attach_consumer) {
      auto& wanted = static_cast<attach_consumer&>(*content);
      partition_.attach(
          wanted.subpartition,
          std::make_unique<local_consumer>(std::move(wanted.consumer), wanted.channel),
          wanted.credit_bytes);
      ++attached_;
    } else {
      const auto& credit = static_cast<const exchange_credit&>(*content);
      partition_.add_credit(credit.subpartition, credit.bytes);
    }
    wake();
  }
  void wake() {
    if (pending_ || closed_ || attached_ < partition_.subpartition_count())
      return;
    pending_ = true;
    later([this] {
      pending_ = false;
      take_turn();
    });
  }
  void take_turn() {
    for (std::size_t i = 0; i < batches_a_turn && partition_.is_available(); ++i) {
      if (emitted_ == run_->batches_a_producer) {
        partition_.close();
        closed_ = true;
        return;
      }
      partition_.emit(run_->batches[emitted_++ % run_->batches.size()], now_us());
    }
    if (partition_.is_available())
      wake();
  }

  std::shared_ptr<exchange_run> run_;
  result_partition partition_;
  std::size_t emitted_ = 0;
  std::uint32_t attached_ = 0;
  bool pending_ = false;
  bool closed_ = false;
};

class consumer final : public actors::endpoint {
public:
  consumer(std::shared_ptr<exchange_run> run, std::vector<actors::actor_ref> producers,
           std::uint32_t index)
      : run_(std::move(run)), producers_(std::move(producers)),
        gate_(std::vector<std::int32_t>(producers_.size(), 0)), index_(index) {}

private:
  void on_start() override {
    for (std::size_t i = 0; i < producers_.size(); ++i) {
      auto wanted = std::make_unique<attach_consumer>();
      wanted->subpartition = index_;
      wanted->channel = static_cast<std::uint32_t>(i);
      wanted->credit_bytes = gate_.window_bytes();
      wanted->consumer = self_ref();
      producers_[i].send(std::move(wanted), actors::mail_priority::high);
    }
  }
  void on_mail(actors::mail_ptr content) override {
    auto& data = static_cast<exchange_data&>(*content);
    gate_.enqueue(data.channel, std::move(data.elements), data.closes);
    wake();
  }
  void wake() {
    if (pending_)
      return;
    pending_ = true;
    later([this] {
      pending_ = false;
      take_turn();
    });
  }
  void take_turn() {
    for (std::size_t i = 0; i < batches_a_turn; ++i) {
      auto event = gate_.poll(now_us());
      if (!event)
        break;
      if (const auto* batch = std::get_if<input_batch>(&*event)) {
        rows_ += batch->rows.size();
        ++batches_;
      }
    }
    for (const auto& grant : gate_.take_grants()) {
      auto credit = std::make_unique<exchange_credit>();
      credit->subpartition = index_;
      credit->bytes = grant.bytes;
      producers_[grant.channel].send(std::move(credit), actors::mail_priority::high);
    }
    if (gate_.has_input()) {
      wake();
    } else if (gate_.all_closed() && !std::exchange(ended_, true)) {
      run_->rows += rows_;
      run_->batches_seen += batches_;
      producers_.clear();
      if (--run_->consumers_left == 0)
        run_->ended.set_value();
    }
  }

  std::shared_ptr<exchange_run> run_;
  std::vector<actors::actor_ref> producers_;
  input_gate gate_;
  std::uint32_t index_;
  std::uint64_t rows_ = 0;
  std::uint64_t batches_ = 0;
  bool pending_ = false;
  bool ended_ = false;
};

std::vector<graph::record_batch> make_batches() {
  const auto number = graph::logical_type::bigint().not_null();
  graph::batch_builder rows(std::make_shared<const graph::logical_type>(
      graph::logical_type::row({{"key", number, ""}, {"value", number, ""}})));
  std::vector<graph::record_batch> out;
  std::uint64_t next = 0;
  for (std::size_t batch = 0; batch < distinct_batches; ++batch) {
    for (std::size_t i = 0; i < batch_rows; ++i) {
      rows.column(0).append(static_cast<std::int64_t>(mix64(++next) % 1'000'000));
      rows.column(1).append(static_cast<std::int64_t>(next));
      rows.end_row();
    }
    out.push_back(rows.finish());
  }
  return out;
}

double process_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

void measure(const char* name, graph::partitioner_kind kind, std::uint32_t producers,
             std::uint32_t consumers, std::uint64_t rows_a_producer) {
  const auto run = std::make_shared<exchange_run>();
  run->batches = make_batches();
  run->batches_a_producer = static_cast<std::size_t>(rows_a_producer / batch_rows);
  run->consumers_left = consumers;
  auto ended = run->ended.get_future();
  const auto node = actors::make_node({});
  const auto began = std::chrono::steady_clock::now();
  const auto began_cpu = process_cpu_seconds();
  std::vector<actors::actor_ref> sources;
  for (std::uint32_t i = 0; i < producers; ++i) {
    partitioner_setup setup;
    setup.spec.kind = kind;
    setup.spec.key_columns = {0};
    setup.targets = consumers;
    setup.subtask = i;
    auto split = make_partitioner(std::move(setup));
    if (!split) {
      std::fprintf(stderr, "%s\n", to_string(split.error()).c_str());
      std::exit(1);
    }
    sources.push_back(
        node->find(node->spawn(std::make_unique<producer>(run, *std::move(split), consumers),
                               {.name = "producer-" + std::to_string(i),
                                .kind = "producer",
                                .where = actors::placement::shared})));
  }
  for (std::uint32_t i = 0; i < consumers; ++i)
    node->spawn(std::make_unique<consumer>(run, sources, i),
                {.name = "consumer-" + std::to_string(i),
                 .kind = "consumer",
                 .where = actors::placement::shared});
  ended.wait();
  const auto cpu = process_cpu_seconds() - began_cpu;
  const auto seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  const auto rows = static_cast<double>(run->rows.load());
  std::printf("{\"bench\":\"exchange\",\"name\":\"%s\",\"producers\":%u,\"consumers\":%u,"
              "\"rows\":%.0f,\"rows_a_batch_taken\":%.0f,\"seconds\":%.3f,\"cpu_seconds\":%.3f,"
              "\"million_rows_per_s\":%.1f,\"million_rows_per_core_s\":%.1f}\n",
              name, producers, consumers, rows,
              rows / static_cast<double>(std::max<std::uint64_t>(run->batches_seen.load(), 1)),
              seconds, cpu, rows / seconds / 1e6, rows / cpu / 1e6);
  std::fflush(stdout);
  sources.clear();
  node->shut_down();
}

} // namespace
} // namespace headrace::task

int main(int count, char** arguments) {
  using headrace::graph::partitioner_kind;
  const auto rows =
      (count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 40ULL) * std::uint64_t{1'000'000};
  headrace::task::measure("forward", partitioner_kind::forward, 1, 1, rows);
  headrace::task::measure("hash", partitioner_kind::hash, 4, 4, rows / 4);
  headrace::task::measure("hash_many", partitioner_kind::hash, 32, 32, rows / 32);
}
