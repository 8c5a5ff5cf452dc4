#include "libtask/operator/salt_operator.hpp"

#include "libgraph/data/hash.hpp"
#include "libactors/base/ids.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace headrace::task {
namespace {

/// Another hash than what an exchange and a state's directory go by.
constexpr std::uint64_t turn = 0x9e3779b97f4a7c15ULL;

class salt_operator final : public stream_operator {
public:
  salt_operator(const graph::operator_node& node, const operator_context& context)
      : spec_(std::get<graph::salt_spec>(node.spec)),
        columns_(spec_.columns.begin(), spec_.columns.end()), memory_(context.memory),
        type_(std::make_shared<const graph::logical_type>(node.output_type)) {}

  status add(std::int32_t /*input*/, const graph::record_batch& rows) override {
    in_ = spec_.is_in_each ? rows.compact_if_sparse() : rows;
    next_ = 0;
    return {};
  }

  result<drain_result> drain(operator_output& out, const drain_budget& /*budget*/) override {
    if (in_.is_empty())
      return drain_result::done;
    auto buckets = graph::buffer::allocate(in_.row_count() * sizeof(std::int32_t), memory_);
    auto* values = buckets->mutable_as<std::int32_t>();
    if (spec_.is_in_each)
      std::fill_n(values, in_.row_count(), next_);
    else
      deal(values);
    out.emit(with_buckets(std::move(buckets)));
    ++next_;
    if (spec_.is_in_each && next_ < spec_.buckets)
      return drain_result::more;
    in_ = {};
    return drain_result::done;
  }

private:
  void deal(std::int32_t* values) {
    hashes_.resize(in_.size());
    graph::hash_columns(in_, columns_, hashes_);
    if (in_.has_selection())
      std::fill_n(values, in_.row_count(), 0);
    const auto buckets = static_cast<std::uint64_t>(spec_.buckets);
    for (std::size_t i = 0; i < hashes_.size(); ++i)
      values[in_.row_at(i)] = static_cast<std::int32_t>(mix64(hashes_[i] ^ turn) % buckets);
  }

  graph::record_batch with_buckets(graph::buffer_ptr buckets) const {
    auto columns = in_.columns();
    graph::column::parts content;
    content.size = in_.row_count();
    content.values = std::move(buckets);
    columns.push_back(
        graph::column::make(type_->child(type_->child_count() - 1), std::move(content)));
    return in_.with_columns(type_, std::move(columns));
  }

  graph::salt_spec spec_;
  std::vector<int> columns_;
  std::shared_ptr<graph::memory_budget> memory_;
  graph::row_type_ptr type_;
  graph::record_batch in_;
  std::int32_t next_ = 0; ///< bucket
  std::vector<std::uint64_t> hashes_;
};

} // namespace

result<std::unique_ptr<stream_operator>> make_salt_operator(const graph::operator_node& node,
                                                            const operator_context& context) {
  return std::unique_ptr<stream_operator>(std::make_unique<salt_operator>(node, context));
}

} // namespace headrace::task
