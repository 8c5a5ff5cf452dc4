#include "libtask/operator/join/unmatched_rows.hpp"

namespace headrace::task {
namespace {

constexpr std::size_t keys_a_scan = 256;

} // namespace

result<graph::record_batch> unmatched_rows::take(join_pairs& pairs, const drain_budget& budget,
                                                 bool& has_more) {
  auto& found = piece_->found;
  if (key_ == found.size()) {
    HEADRACE_CHECK(rows_->scan(space_, keys_a_scan, *piece_));
    key_ = 0;
    offset_ = 0;
  }
  pairs.begin(other_, 1 - side_);
  joined_entry entry;
  while (key_ < found.size() && !pairs.is_full(budget)) {
    const auto rows = found.variable[key_];
    if (!rows_->next(rows, offset_, entry)) {
      ++key_;
      offset_ = 0;
    } else if (rows_->matches(rows, entry.at) == 0) {
      pairs.add(join_pairs::none, entry.row);
      pairs.emit_other(pairs.size() - 1, graph::row_kind::insert);
    }
  }
  has_more = key_ < found.size() || !piece_->cursor.done;
  auto out = pairs.take();
  pairs.end();
  return out;
}

} // namespace headrace::task
