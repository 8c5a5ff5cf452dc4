#include "libscheduler/source/split_assignment_tracker.hpp"

#include <iterator>
#include <utility>

namespace headrace::scheduler {

namespace {

void append(std::vector<graph::source_split>& to, std::vector<graph::source_split> from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

} // namespace

void split_assignment_tracker::assign(std::int32_t reader,
                                      const std::vector<graph::source_split>& splits) {
  append(since_[reader], splits);
}

void split_assignment_tracker::on_checkpoint(checkpoint_id checkpoint) {
  before_[checkpoint] = std::exchange(since_, {});
}

void split_assignment_tracker::on_checkpoint_completed(checkpoint_id checkpoint) {
  before_.erase(before_.begin(), before_.upper_bound(checkpoint));
}

std::vector<graph::source_split> split_assignment_tracker::take_back(std::int32_t reader,
                                                                     checkpoint_id restored) {
  std::vector<graph::source_split> back;
  for (auto at = before_.upper_bound(restored); at != before_.end(); ++at) {
    if (auto found = at->second.extract(reader))
      append(back, std::move(found.mapped()));
  }
  if (auto found = since_.extract(reader))
    append(back, std::move(found.mapped()));
  return back;
}

void split_assignment_tracker::reset() {
  before_.clear();
  since_.clear();
}

} // namespace headrace::scheduler
