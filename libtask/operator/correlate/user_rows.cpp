#include "libtask/operator/correlate/user_rows.hpp"

#include "libtask/operator/join/append_rows.hpp"
#include "libgraph/data/gather.hpp"
#include "libgraph/user_function/user_code.hpp"

#include <utility>

namespace headrace::task {
namespace {

class user_rows final : public table_rows {
public:
  user_rows(const graph::correlate_spec& spec, std::vector<graph::logical_type> types,
            std::unique_ptr<graph::user_table> function)
      : fields_(spec.fields), types_(std::move(types)),
        is_left_(spec.kind == graph::join_kind::left), function_(std::move(function)),
        rows_(std::make_shared<const graph::logical_type>(spec.result_type)) {}

  status take(const graph::record_batch& in, const graph::record_batch& arguments) override {
    in_ = in;
    arguments_ = arguments;
    next_ = 0;
    return {};
  }

  result<bool> make(std::size_t rows_max, made_rows& out) override {
    std::vector<graph::user_argument> arguments;
    for (const auto& each : arguments_.columns())
      arguments.push_back({each.get(), false});
    const graph::user_rows rows{in_.has_selection() ? in_.selection().data() : nullptr, in_.size()};
    calls_.clear();
    const auto first = next_;
    HEADRACE_TRY(next_, function_->make(arguments, rows, next_, rows_max, calls_, rows_));
    const auto made = rows_.finish();
    place(first, out.parents);
    if (!out.parents.empty())
      for (std::size_t i = 0; i < fields_.size(); ++i)
        out.columns.push_back(column_of(made.at(static_cast<std::size_t>(fields_[i])), types_[i]));
    const bool has_more = next_ < in_.size();
    if (!has_more) {
      in_ = {};
      arguments_ = {};
    }
    return has_more;
  }

private:
  /// Which rows leave, and of which row each is: those of a left join that have none, too.
  void place(std::size_t first, std::vector<std::uint32_t>& parents) {
    picked_.clear();
    std::size_t made = 0;
    for (auto row = first; row < next_; ++row) {
      const auto before = picked_.size();
      for (; made < calls_.size() && calls_[made] == row; ++made)
        picked_.push_back(static_cast<std::uint32_t>(made));
      if (picked_.size() == before && is_left_)
        picked_.push_back(missing_row);
      parents.resize(picked_.size(), in_.row_at(row));
    }
  }
  graph::column_ptr column_of(const graph::column& from, const graph::logical_type& type) const {
    if (is_left_) {
      graph::column_builder to(type);
      append_rows(from, picked_, to);
      return to.finish();
    }
    return graph::column::make(type, from.content());
  }

  std::vector<std::int32_t> fields_;
  std::vector<graph::logical_type> types_;
  bool is_left_;
  std::unique_ptr<graph::user_table> function_;
  graph::batch_builder rows_;
  graph::record_batch in_;
  graph::record_batch arguments_;
  std::size_t next_ = 0;
  std::vector<std::uint32_t> calls_;  ///< by row that is made, the selected row that it is of
  std::vector<std::uint32_t> picked_; ///< by row that leaves
};

} // namespace

result<std::unique_ptr<table_rows>> make_user_rows(const graph::correlate_spec& spec,
                                                   std::vector<graph::logical_type> types) {
  HEADRACE_TRY(const auto definition, graph::decode_user_function(spec.definition));
  HEADRACE_TRY(auto function, graph::make_user_table(definition));
  return std::unique_ptr<table_rows>(
      std::make_unique<user_rows>(spec, std::move(types), std::move(function)));
}

} // namespace headrace::task
