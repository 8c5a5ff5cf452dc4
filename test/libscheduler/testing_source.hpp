#pragma once

#include "libgraph/connector/registry.hpp"
#include "libgraph/connector/source.hpp"
#include "libactors/base/bytes.hpp"

#include <deque>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace headrace::testing {

/// Hands out splits "0" … one at a time to who asks; discovers them on the executor.
class testing_enumerator final : public graph::split_enumerator {
public:
  testing_enumerator(graph::enumerator_context& context, int count, bool fails_at_start,
                     std::optional<byte_string> restored)
      : context_(context), count_(count), fails_at_start_(fails_at_start) {
    if (restored) {
      is_discovered_ = true;
      byte_reader reader(*restored);
      while (!reader.at_end())
        open_.push_back({std::string(*reader.get_bytes()), {}});
    }
  }

  status start() override {
    if (fails_at_start_)
      return error(errc::input_not_found, "nothing to read");
    if (is_discovered_)
      return {};
    context_.call_async(
        [count = count_]() -> result<std::vector<graph::source_split>> {
          std::vector<graph::source_split> found;
          for (int i = 0; i < count; ++i)
            found.push_back({std::to_string(i), {}});
          return found;
        },
        [this](result<std::vector<graph::source_split>> found) -> status {
          HEADRACE_CHECK(found);
          is_discovered_ = true;
          open_.insert(open_.end(), found->begin(), found->end());
          for (const auto reader : std::exchange(waiting_, {}))
            HEADRACE_CHECK(handle_split_request(reader));
          return {};
        },
        std::chrono::milliseconds(0));
    return {};
  }
  status add_reader(std::int32_t /*reader*/) override { return {}; }
  status handle_split_request(std::int32_t reader) override {
    if (!is_discovered_) {
      waiting_.insert(reader);
    } else if (open_.empty()) {
      context_.no_more_splits(reader);
    } else {
      context_.assign(reader, {open_.front()});
      open_.pop_front();
    }
    return {};
  }
  status add_splits_back(std::vector<graph::source_split> splits,
                         std::int32_t /*reader*/) override {
    open_.insert(open_.begin(), splits.begin(), splits.end());
    return {};
  }
  result<byte_string> snapshot(checkpoint_id /*checkpoint*/) override {
    byte_string out;
    byte_writer writer(out);
    for (const auto& split : open_)
      writer.put_bytes(split.id);
    return out;
  }

private:
  graph::enumerator_context& context_;
  int count_;
  bool fails_at_start_;
  bool is_discovered_ = false;
  std::deque<graph::source_split> open_;
  std::set<std::int32_t> waiting_;
};

/// Options: "splits", how many; "fails", any value: the enumerator does not start.
class testing_source final : public graph::source {
public:
  explicit testing_source(graph::option_map options) : options_(std::move(options)) {}
  graph::boundedness bounds() const override { return graph::boundedness::bounded; }
  graph::row_type_ptr row_type() const override { return nullptr; }
  result<std::unique_ptr<graph::split_enumerator>>
  create_enumerator(graph::enumerator_context& context,
                    std::optional<byte_string> restored) const override {
    return std::unique_ptr<graph::split_enumerator>(
        std::make_unique<testing_enumerator>(context, std::stoi(options_.at("splits")),
                                             options_.contains("fails"), std::move(restored)));
  }
  result<std::unique_ptr<graph::split_reader>>
  create_reader(graph::reader_context /*context*/) const override {
    return error(errc::internal, "readers are imagined");
  }

private:
  graph::option_map options_;
};

inline void add_testing_source(graph::connector_registry& registry) {
  registry.add_source("testing",
                      [](const graph::connector_registry&, const graph::option_map& options,
                         graph::row_type_ptr) -> result<std::unique_ptr<graph::source>> {
                        return std::unique_ptr<graph::source>(
                            std::make_unique<testing_source>(options));
                      });
}

} // namespace headrace::testing
