#include "libtask/operator/aggregate/user_value.hpp"

#include "libgraph/function/failure.hpp"
#include "libgraph/user_function/user_code.hpp"

#include <utility>
#include <vector>

namespace headrace::task {
namespace {

void need(const status& outcome) {
  if (!outcome)
    throw graph::failure(outcome.error());
}
template <class T>
T need(result<T> made) {
  if (!made)
    throw graph::failure(std::move(made).error());
  return std::move(*made);
}

class user_value final : public group_value {
public:
  user_value(const graph::group_aggregate_call& call, graph::state_provider& states,
             const std::string& name, std::int64_t ttl_ms)
      : columns_(call.arguments) {
    const auto definition = need(graph::decode_user_function(call.definition));
    function_ = need(graph::make_user_aggregate(definition));
    graph::state_descriptor descriptor;
    descriptor.name = name;
    descriptor.value_type = graph::logical_type::bytes();
    descriptor.ttl_ms = ttl_ms;
    state_ = &states.value(descriptor);
  }

  void take(const graph::record_batch& in, std::uint32_t row, bool is_retracted,
            graph::column_builder& before, graph::column_builder& after) override {
    load();
    need(function_->tell(group_, before));
    arguments_.clear();
    for (const auto each : columns_)
      arguments_.push_back({&in.at(static_cast<std::size_t>(each)), false});
    need(is_retracted ? function_->retract(group_, arguments_, row)
                      : function_->accumulate(group_, arguments_, row));
    state_->put(group_);
    need(function_->tell(group_, after));
  }
  void pass(graph::column_builder& before, graph::column_builder& after) override {
    load();
    need(function_->tell(group_, before));
    need(function_->tell(group_, after));
  }
  void tell(graph::column_builder& to) override {
    load();
    need(function_->tell(group_, to));
  }
  void clear() override { state_->clear(); }

private:
  /// What is kept of the current key; of a new one what `create` gives.
  void load() {
    const auto kept = state_->get();
    if (kept)
      group_.assign(kept->data(), kept->size());
    else
      need(function_->create(group_));
  }

  std::vector<std::int32_t> columns_;
  std::unique_ptr<graph::user_aggregate> function_;
  graph::value_access* state_ = nullptr;
  byte_string group_;
  std::vector<graph::user_argument> arguments_;
};

} // namespace

std::unique_ptr<group_value> make_user_value(const graph::group_aggregate_call& call,
                                             graph::state_provider& states, const std::string& name,
                                             std::int64_t ttl_ms) {
  return std::make_unique<user_value>(call, states, name, ttl_ms);
}

} // namespace headrace::task
