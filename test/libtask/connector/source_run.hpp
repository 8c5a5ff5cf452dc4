#pragma once

#include "test/support/manual_clock.hpp"
#include "libgraph/connector/source.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace headrace::testing {

/// A source coordinator and its readers, run by hand: discovery happens when `discover` is called.
class testing_enumerator_context final : public graph::enumerator_context {
public:
  testing_enumerator_context(file_system& files, std::int32_t readers)
      : files_(files), readers_(readers) {}

  std::int32_t reader_count() const override { return readers_; }
  std::vector<std::int32_t> registered_readers() const override {
    return {registered.begin(), registered.end()};
  }
  void assign(std::int32_t reader, std::vector<graph::source_split> splits) override {
    for (auto& split : splits)
      assigned[reader].push_back(std::move(split));
  }
  void no_more_splits(std::int32_t reader) override { finished.insert(reader); }
  void call_async(std::function<result<std::vector<graph::source_split>>()> discover,
                  std::function<status(result<std::vector<graph::source_split>>)> handle,
                  std::chrono::milliseconds period) override {
    discover_ = std::move(discover);
    handle_ = std::move(handle);
    period_ = period;
  }
  file_system& files() override { return files_; }
  const headrace::clock& time() const override { return clock_; }
  const headrace::logger& log() const override { return log_; }

  bool has_call() const { return discover_ != nullptr; }
  status discover() { return handle_(discover_()); }
  std::chrono::milliseconds period() const { return period_; }

  std::set<std::int32_t> registered;
  std::map<std::int32_t, std::vector<graph::source_split>> assigned;
  std::set<std::int32_t> finished;

private:
  file_system& files_;
  std::int32_t readers_;
  manual_clock clock_;
  headrace::logger log_;
  std::function<result<std::vector<graph::source_split>>()> discover_;
  std::function<status(result<std::vector<graph::source_split>>)> handle_;
  std::chrono::milliseconds period_{0};
};

} // namespace headrace::testing
