#include "libtask/operator/correlate/unnest_rows.hpp"

#include "libtask/operator/join/append_rows.hpp"
#include "libgraph/data/gather.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>

namespace headrace::task {
namespace {

using graph::type_root;

class unnest_rows final : public table_rows {
public:
  unnest_rows(const graph::correlate_spec& spec, std::vector<graph::logical_type> types)
      : fields_(spec.fields), types_(std::move(types)),
        is_left_(spec.kind == graph::join_kind::left),
        is_multiset_(spec.arguments[0].type().root() == type_root::multiset),
        is_map_(spec.arguments[0].type().root() == type_root::map),
        is_spread_(!is_map_ && spec.arguments[0].type().child(0).root() == type_root::row),
        element_columns_(spec.result_type.child_count() - (spec.has_ordinality ? 1U : 0U)) {}

  status take(const graph::record_batch& in, const graph::record_batch& arguments) override {
    in_ = in;
    collections_ = arguments.column_at(0);
    next_ = 0;
    offset_ = 0;
    repeated_ = 0;
    place_ = 0;
    return {};
  }

  result<bool> make(std::size_t rows_max, made_rows& out) override {
    elements_.clear();
    places_.clear();
    has_missing_ = false;
    while (next_ < in_.size() && out.parents.size() < rows_max)
      pick(in_.row_at(next_), rows_max, out.parents);
    if (!out.parents.empty())
      for (std::size_t i = 0; i < fields_.size(); ++i)
        out.columns.push_back(column_of(static_cast<std::size_t>(fields_[i]), types_[i]));
    const bool has_more = next_ < in_.size();
    if (!has_more) {
      in_ = {};
      collections_ = nullptr;
    }
    return has_more;
  }

private:
  /// Picks elements of a row, and goes on to the next one when they were the last.
  void pick(std::uint32_t row, std::size_t rows_max, std::vector<std::uint32_t>& parents) {
    const auto* offsets = collections_->values<std::int32_t>();
    const bool is_there = !collections_->is_null(row);
    const auto begin = is_there ? static_cast<std::uint32_t>(offsets[row]) : 0U;
    const auto end = is_there ? static_cast<std::uint32_t>(offsets[row + 1]) : 0U;
    const auto before = parents.size();
    const auto room = rows_max - before;
    if (is_multiset_) {
      pick_repeated(begin, end, room);
    } else {
      const auto count = std::min<std::size_t>(end - begin - offset_, room);
      elements_.resize(before + count);
      std::iota(elements_.begin() + static_cast<std::ptrdiff_t>(before), elements_.end(),
                begin + offset_);
      offset_ += static_cast<std::uint32_t>(count);
    }
    for (auto i = before; i < elements_.size(); ++i)
      places_.push_back(++place_);
    const bool is_done = begin + offset_ == end;
    if (is_done && place_ == 0 && is_left_) {
      elements_.push_back(missing_row);
      places_.push_back(0);
      has_missing_ = true;
    }
    parents.resize(elements_.size(), row);
    if (!is_done)
      return;
    ++next_;
    offset_ = 0;
    place_ = 0;
  }

  /// An element of a multiset comes as often as it counts.
  void pick_repeated(std::uint32_t begin, std::uint32_t end, std::size_t room) {
    const auto* counts = collections_->child(1).values<std::int32_t>();
    while (begin + offset_ < end && room > 0) {
      const auto at = begin + offset_;
      const auto wanted = static_cast<std::size_t>(std::max(counts[at], 0)) - repeated_;
      const auto count = std::min(wanted, room);
      elements_.insert(elements_.end(), count, at);
      room -= count;
      repeated_ += count;
      if (count == wanted) {
        repeated_ = 0;
        ++offset_;
      }
    }
  }

  graph::column_ptr column_of(std::size_t field, const graph::logical_type& type) {
    if (field == element_columns_)
      return places(type);
    if (!is_spread_)
      return gathered(collections_->child(is_map_ ? field : 0), elements_, has_missing_, type);
    const auto& rows = collections_->child(0);
    if (!rows.has_nulls())
      return gathered(rows.child(field), elements_, has_missing_, type);
    spread_ = elements_;
    for (auto& each : spread_)
      if (each != missing_row && rows.is_null(each))
        each = missing_row;
    return gathered(rows.child(field), spread_, true, type);
  }

  static graph::column_ptr gathered(const graph::column& from, std::span<const std::uint32_t> rows,
                                    bool has_missing, const graph::logical_type& type) {
    if (has_missing) {
      graph::column_builder to(type);
      to.reserve(rows.size());
      append_rows(from, rows, to);
      return to.finish();
    }
    const auto made = graph::gather_column(from, rows);
    return made->type() == type ? made : graph::column::make(type, made->content());
  }

  graph::column_ptr places(const graph::logical_type& type) const {
    graph::column_builder to(type);
    to.reserve(places_.size());
    for (const auto each : places_)
      if (each == 0)
        to.append_null();
      else
        to.append(each);
    return to.finish();
  }

  std::vector<std::int32_t> fields_;
  std::vector<graph::logical_type> types_;
  bool is_left_;
  bool is_multiset_;
  bool is_map_;
  bool is_spread_;              ///< elements are rows
  std::size_t element_columns_; ///< the next one is the place
  graph::record_batch in_;
  graph::column_ptr collections_;
  std::size_t next_ = 0;                ///< selected row
  std::uint32_t offset_ = 0;            ///< elements of it, or entries, that are picked
  std::size_t repeated_ = 0;            ///< of an entry of a multiset
  std::int32_t place_ = 0;              ///< of the last one that is picked, from 1
  std::vector<std::uint32_t> elements_; ///< by row that is made, in the collections' children
  std::vector<std::int32_t> places_;
  std::vector<std::uint32_t> spread_;
  bool has_missing_ = false;
};

} // namespace

std::unique_ptr<table_rows> make_unnest_rows(const graph::correlate_spec& spec,
                                             std::vector<graph::logical_type> types) {
  return std::make_unique<unnest_rows>(spec, std::move(types));
}

} // namespace headrace::task
