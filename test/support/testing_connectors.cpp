#include "test/support/testing_connectors.hpp"

#include "test/support/batches.hpp"
#include "libgraph/data/batch_builder.hpp"

#include <algorithm>
#include <charconv>

namespace headrace::testing {

std::vector<std::int64_t> sink_log::all_written() const {
  const std::lock_guard guard(lock);
  return written;
}
std::vector<std::int64_t> sink_log::all_committed() const {
  const std::lock_guard guard(lock);
  return committed;
}

namespace {

class testing_writer final : public graph::sink_writer {
public:
  testing_writer(std::shared_ptr<sink_log> log, std::vector<byte_string> restored)
      : log_(std::move(log)) {
    const std::lock_guard guard(log_->lock);
    log_->calls.push_back("create " + std::to_string(restored.size()));
  }
  status write(const graph::record_batch& rows) override {
    const std::lock_guard guard(log_->lock);
    if (log_->fail_writes)
      return error(errc::output_failed, "disk is on fire");
    for (const auto value : numbers_of(rows)) {
      log_->written.push_back(value);
      byte_writer(pending_).put(value);
    }
    return {};
  }
  result<std::vector<graph::committable>> prepare_commit(bool end_of_input) override {
    const std::lock_guard guard(log_->lock);
    log_->calls.push_back(end_of_input ? "prepare end" : "prepare");
    std::vector<graph::committable> out;
    if (!pending_.empty())
      out.push_back(std::exchange(pending_, {}));
    return out;
  }
  result<byte_string> snapshot(checkpoint_id) override { return byte_string("writer"); }
  status close() override { return {}; }

private:
  std::shared_ptr<sink_log> log_;
  byte_string pending_;
};

class testing_committer final : public graph::committer {
public:
  explicit testing_committer(std::shared_ptr<sink_log> log) : log_(std::move(log)) {}
  result<graph::commit_later> commit(const std::vector<graph::committable>& what) override {
    const std::lock_guard guard(log_->lock);
    log_->calls.emplace_back("commit");
    graph::commit_later later;
    for (const auto& one : what) {
      if (log_->postponed_commits > 0) {
        --log_->postponed_commits;
        later.what.push_back(one);
        later.cause = error(errc::timed_out, "the store does not answer");
        continue;
      }
      byte_reader reader(one);
      while (!reader.at_end()) {
        HEADRACE_TRY(const auto value, reader.get<std::int64_t>());
        log_->committed.push_back(value);
      }
    }
    return later;
  }

private:
  std::shared_ptr<sink_log> log_;
};

class testing_sink final : public graph::sink {
public:
  explicit testing_sink(std::shared_ptr<sink_log> log) : log_(std::move(log)) {}
  result<std::unique_ptr<graph::sink_writer>>
  create_writer(graph::writer_context context, std::vector<byte_string> restored) const override {
    log_->former_jobs = context.former_jobs;
    return std::unique_ptr<graph::sink_writer>(
        std::make_unique<testing_writer>(log_, std::move(restored)));
  }
  result<std::unique_ptr<graph::committer>> create_committer(graph::writer_context) const override {
    if (!log_->exactly_once)
      return std::unique_ptr<graph::committer>();
    return std::unique_ptr<graph::committer>(std::make_unique<testing_committer>(log_));
  }

private:
  std::shared_ptr<sink_log> log_;
};

std::int64_t number_of(const graph::option_map& options, const std::string& key,
                       std::int64_t otherwise) {
  const auto at = options.find(key);
  if (at == options.end())
    return otherwise;
  std::from_chars(at->second.data(), at->second.data() + at->second.size(), otherwise);
  return otherwise;
}

/// A split's state is the next number as 8 bytes; empty: 0.
class testing_reader final : public graph::split_reader {
public:
  testing_reader(std::int64_t count, std::int64_t batch) : count_(count), batch_(batch) {}
  status add_split(graph::source_split split) override {
    std::int64_t next = 0;
    if (!split.state.empty()) {
      byte_reader reader(split.state);
      HEADRACE_TRY(next, reader.get<std::int64_t>());
    }
    splits_.emplace_back(split.id, next);
    return {};
  }
  result<std::optional<graph::fetched>> fetch(const graph::fetch_budget&) override {
    if (splits_.empty())
      return std::optional<graph::fetched>();
    auto& [id, next] = splits_.front();
    graph::batch_builder rows(number_type());
    for (std::int64_t i = 0; i < batch_ && next < count_; ++i, ++next) {
      rows.column(0).append(next);
      rows.end_row(next);
    }
    graph::fetched out;
    out.split_id = id;
    out.rows = rows.finish();
    byte_writer(out.state_after).put(next);
    out.split_finished = next >= count_;
    if (out.split_finished)
      splits_.erase(splits_.begin());
    return std::optional<graph::fetched>(std::move(out));
  }

private:
  std::int64_t count_;
  std::int64_t batch_;
  std::vector<std::pair<std::string, std::int64_t>> splits_;
};

class testing_enumerator final : public graph::split_enumerator {
public:
  testing_enumerator(graph::enumerator_context& context, std::vector<std::string> splits)
      : context_(context), splits_(std::move(splits)) {}
  status start() override { return {}; }
  status add_reader(std::int32_t) override { return {}; }
  status handle_split_request(std::int32_t reader) override {
    if (splits_.empty()) {
      context_.no_more_splits(reader);
      return {};
    }
    context_.assign(reader, {{splits_.back(), {}}});
    splits_.pop_back();
    return {};
  }
  status add_splits_back(std::vector<graph::source_split> splits, std::int32_t) override {
    for (auto& split : splits)
      splits_.push_back(split.id);
    return {};
  }
  result<byte_string> snapshot(checkpoint_id) override { return byte_string(); }

private:
  graph::enumerator_context& context_;
  std::vector<std::string> splits_;
};

class testing_source final : public graph::source {
public:
  explicit testing_source(graph::option_map options) : options_(std::move(options)) {}
  graph::boundedness bounds() const override { return graph::boundedness::bounded; }
  graph::row_type_ptr row_type() const override { return number_type(); }
  result<std::unique_ptr<graph::split_enumerator>>
  create_enumerator(graph::enumerator_context& context, std::optional<byte_string>) const override {
    return std::unique_ptr<graph::split_enumerator>(
        std::make_unique<testing_enumerator>(context, std::vector<std::string>{"a"}));
  }
  result<std::unique_ptr<graph::split_reader>> create_reader(graph::reader_context) const override {
    return std::unique_ptr<graph::split_reader>(std::make_unique<testing_reader>(
        number_of(options_, "count", 100), number_of(options_, "batch", 10)));
  }

private:
  graph::option_map options_;
};

} // namespace

void add_testing_sink(graph::connector_registry& to, std::shared_ptr<sink_log> log) {
  to.add_sink("testing",
              [log](const graph::connector_registry&, const graph::option_map&,
                    graph::row_type_ptr) -> result<std::unique_ptr<graph::sink>> {
                return std::unique_ptr<graph::sink>(std::make_unique<testing_sink>(log));
              });
}

void add_testing_source(graph::connector_registry& to) {
  to.add_source("testing",
                [](const graph::connector_registry&, const graph::option_map& options,
                   graph::row_type_ptr) -> result<std::unique_ptr<graph::source>> {
                  return std::unique_ptr<graph::source>(std::make_unique<testing_source>(options));
                });
}

} // namespace headrace::testing
