#include "libtask/executor/unused_copies.hpp"

namespace headrace::task {

std::vector<job_id> unused_copies::look(const std::set<job_id>& there, const std::set<job_id>& here,
                                        std::int64_t now_us) {
  std::erase_if(waiting_since_us_, [&](const auto& one) {
    return !there.contains(one.first) || here.contains(one.first);
  });
  std::vector<job_id> out;
  for (const auto& job : there) {
    if (here.contains(job))
      continue;
    const auto [waiting, is_new] = waiting_since_us_.try_emplace(job, now_us);
    if (now_us - waiting->second < patience_us_)
      continue;
    waiting_since_us_.erase(waiting);
    out.push_back(job);
  }
  return out;
}

} // namespace headrace::task
