#include "libscheduler/job_master/collected_rows.hpp"

#include <string>
#include <utility>

namespace headrace::scheduler {

status collected_rows::add(const execution_attempt_id& from, std::int64_t sequence,
                           std::vector<byte_string> batches, bool is_last) {
  if (sequence != 0) {
    auto& newest = sequences_[from.subtask];
    if (sequence <= newest) {
      for (const byte_string& batch : batches)
        taken_[from] += batch.size();
      return {};
    }
    newest = sequence;
  } else if (!batches.empty()) {
    at_once_.insert(from.subtask);
  }
  for (byte_string& batch : batches) {
    bytes_ += batch.size();
    batches_.push_back({from, std::move(batch)});
  }
  if (is_last)
    done_.insert(from.subtask);
  if (bytes_ > bytes_max_)
    return error(errc::memory_exceeded, "result rows are not fetched by the client: more than " +
                                            std::to_string(bytes_max_) + " bytes wait");
  return {};
}

collected_rows::fetched collected_rows::fetch(std::uint64_t offset, std::uint64_t bytes_max) {
  while (first_ < offset && !batches_.empty()) {
    const auto& oldest = batches_.front();
    bytes_ -= oldest.rows.size();
    taken_[oldest.from] += oldest.rows.size();
    batches_.pop_front();
    ++first_;
  }
  fetched out;
  std::uint64_t bytes = 0;
  for (const auto& batch : batches_) {
    if (!out.batches.empty() && bytes + batch.rows.size() > bytes_max)
      break;
    bytes += batch.rows.size();
    out.batches.push_back(batch.rows);
  }
  out.next_offset = first_ + out.batches.size();
  const bool is_complete = is_closed_ || static_cast<std::int32_t>(done_.size()) == subtasks_;
  out.is_last = is_complete && out.batches.size() == batches_.size();
  return out;
}

} // namespace headrace::scheduler
