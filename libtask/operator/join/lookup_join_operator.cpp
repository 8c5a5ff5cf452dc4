#include "libtask/operator/join/lookup_join_operator.hpp"

#include "libtask/operator/join/append_rows.hpp"
#include "libtask/operator/join/join_sides.hpp"
#include "libtask/operator/join/lookup_table.hpp"
#include "libgraph/data/gather.hpp"
#include "libgraph/expression/program.hpp"
#include "libgraph/kernel/compare.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace headrace::task {
namespace {

using graph::row_kind;

class lookup_join_operator final : public stream_operator {
public:
  lookup_join_operator(const graph::operator_node& node, const operator_context& context,
                       std::shared_ptr<const graph::source> source,
                       std::optional<graph::expression_program> condition)
      : spec_(std::get<graph::lookup_join_spec>(node.spec)), context_(context),
        source_(std::move(source)), condition_(std::move(condition)),
        strict_(spec_.key_columns.size(), 0),
        output_type_(std::make_shared<const graph::logical_type>(node.output_type)),
        no_columns_(
            std::make_shared<const graph::logical_type>(graph::logical_type::row({}).not_null())) {}

  status open(const operator_states& /*states*/) override {
    struct outcome {
      result<std::shared_ptr<const lookup_table>> table{nullptr};
    };
    auto read = std::make_shared<outcome>();
    const graph::reader_context reader{context_.subtask, context_.parallelism, context_.files,
                                       context_.time, context_.log};
    context_.services.run_blocking(
        [read, reader, source = source_, fields = spec_.fields, keys = spec_.table_key_columns] {
          read->table = lookup_table::read(*source, reader, fields, keys);
        },
        [this, read] {
          if (read->table)
            table_ = std::move(*read->table);
          else
            context_.services.fail(std::move(read->table).error());
        });
    return {};
  }

  bool is_blocked() const override { return table_ == nullptr; }

  status add(std::int32_t /*input*/, const graph::record_batch& rows) override {
    in_ = rows;
    find_matchable(rows, spec_.key_columns, strict_, lookups_, places_);
    lookup_table::hash(rows, spec_.key_columns, hashes_);
    at_ = 0;
    has_match_ = false;
    found_ = first_of(0);
    return {};
  }

  status advance(graph::watermark mark) override {
    watermark_ms_ = mark.time_ms;
    return {};
  }

  result<drain_result> drain(operator_output& out, const drain_budget& budget) override {
    if (in_.is_empty())
      return drain_result::done;
    collect(budget);
    HEADRACE_CHECK(check());
    decide();
    if (!left_rows_.empty())
      out.emit(joined(left_rows_, table_rows_));
    if (at_ < in_.size())
      return drain_result::more;
    in_ = {};
    return drain_result::done;
  }

private:
  static constexpr auto none = lookup_table::none;

  std::uint32_t first_of(std::size_t index) const {
    return index < in_.size() && places_[index] != none ? table_->first(hashes_[index]) : none;
  }

  void collect(const drain_budget& budget) {
    pair_rows_.clear();
    pair_found_.clear();
    ends_.clear();
    first_ = at_;
    while (at_ < in_.size()) {
      for (; found_ != none; found_ = table_->next(found_)) {
        if (pair_rows_.size() >= budget.rows_max)
          return;
        pair_rows_.push_back(in_.row_at(at_));
        pair_found_.push_back(found_);
      }
      ends_.push_back(pair_rows_.size());
      found_ = first_of(++at_);
      if (pair_rows_.size() >= budget.rows_max)
        return;
    }
  }

  /// Compares the keys of all pairs, and computes the condition over those that are equal.
  status check() {
    passes_.assign(pair_rows_.size(), 1);
    if (pair_rows_.empty())
      return {};
    for (std::size_t k = 0; k < spec_.key_columns.size(); ++k)
      graph::compare_keys(in_.at(static_cast<std::size_t>(spec_.key_columns[k])), pair_rows_,
                          table_->rows().at(static_cast<std::size_t>(spec_.table_key_columns[k])),
                          pair_found_, passes_);
    if (!condition_)
      return {};
    std::vector<std::uint32_t> rows;
    std::vector<std::uint32_t> found;
    std::vector<std::size_t> pairs;
    for (std::size_t i = 0; i < passes_.size(); ++i) {
      if (passes_[i] == 0)
        continue;
      rows.push_back(pair_rows_[i]);
      found.push_back(pair_found_[i]);
      pairs.push_back(i);
      passes_[i] = 0;
    }
    if (pairs.empty())
      return {};
    HEADRACE_TRY(const auto passed, condition_->run(joined(rows, found), no_columns_,
                                                    {context_.time.wall_ms(), watermark_ms_}));
    for (std::size_t i = 0; i < passed.size(); ++i)
      passes_[pairs[passed.row_at(i)]] = 1;
    return {};
  }

  void decide() {
    left_rows_.clear();
    table_rows_.clear();
    std::size_t pair = 0;
    const auto take = [&](std::size_t end) {
      for (; pair < end; ++pair) {
        if (passes_[pair] == 0)
          continue;
        has_match_ = true;
        left_rows_.push_back(pair_rows_[pair]);
        table_rows_.push_back(pair_found_[pair]);
      }
    };
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      take(ends_[i]);
      if (!std::exchange(has_match_, false) && spec_.kind == graph::join_kind::left) {
        left_rows_.push_back(in_.row_at(first_ + i));
        table_rows_.push_back(none);
      }
    }
    take(pair_rows_.size());
  }

  graph::record_batch joined(const std::vector<std::uint32_t>& rows,
                             const std::vector<std::uint32_t>& found) const {
    std::vector<graph::column_ptr> columns;
    for (const auto& each : in_.columns())
      columns.push_back(graph::gather_column(*each, rows));
    for (std::size_t i = 0; i < table_->rows().column_count(); ++i) {
      graph::column_builder builder(output_type_->child(columns.size()), context_.memory);
      append_rows(table_->rows().at(i), found, builder);
      columns.push_back(builder.finish());
    }
    graph::record_batch out(output_type_, rows.size(), std::move(columns));
    if (in_.kinds() != nullptr)
      out = out.with_kinds(gathered(in_.kinds(), rows));
    if (in_.timestamps() != nullptr)
      out = out.with_timestamps(gathered(in_.timestamps(), rows));
    return out;
  }

  template <class T>
  graph::buffer_ptr gathered(const T* from, const std::vector<std::uint32_t>& rows) const {
    auto made = graph::buffer::allocate(rows.size() * sizeof(T), context_.memory);
    for (std::size_t i = 0; i < rows.size(); ++i)
      made->mutable_as<T>()[i] = from[rows[i]];
    return made;
  }

  graph::lookup_join_spec spec_;
  operator_context context_;
  std::shared_ptr<const graph::source> source_;
  std::shared_ptr<const lookup_table> table_; ///< null: not read yet
  std::optional<graph::expression_program> condition_;
  std::vector<std::uint8_t> strict_; ///< NULL matches nothing
  graph::row_type_ptr output_type_;
  graph::row_type_ptr no_columns_;
  std::int64_t watermark_ms_ = graph::watermark::none;

  // The batch at hand; kept from one to the next so that nothing is allocated per row.
  graph::record_batch in_;
  std::vector<std::uint32_t> lookups_;
  std::vector<std::uint32_t> places_;
  std::vector<std::uint64_t> hashes_;
  std::size_t at_ = 0;         ///< row of the batch …
  std::uint32_t found_ = none; ///< … and the row of the table that it may match next
  bool has_match_ = false;     ///< that row, so far
  std::size_t first_ = 0;
  std::vector<std::uint32_t> pair_rows_;
  std::vector<std::uint32_t> pair_found_;
  std::vector<std::size_t> ends_;
  std::vector<std::uint8_t> passes_;
  std::vector<std::uint32_t> left_rows_;
  std::vector<std::uint32_t> table_rows_;
};

} // namespace

result<std::unique_ptr<stream_operator>>
make_lookup_join_operator(const graph::operator_node& node, const operator_context& context) {
  const auto& spec = std::get<graph::lookup_join_spec>(node.spec);
  HEADRACE_TRY(auto source, context.connectors.create_source(
                                spec.table.name, spec.table.options,
                                std::make_shared<const graph::logical_type>(spec.table_type)));
  std::optional<graph::expression_program> condition;
  if (!spec.condition.is_empty()) {
    HEADRACE_TRY(condition, graph::expression_program::compile(
                                node.output_type, spec.condition, {},
                                {spec.time_zone, context.memory, random_seed(context)}));
  }
  return std::unique_ptr<stream_operator>(std::make_unique<lookup_join_operator>(
      node, context, std::shared_ptr<const graph::source>(std::move(source)),
      std::move(condition)));
}

} // namespace headrace::task
