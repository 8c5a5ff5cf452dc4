#include "apps/run/remote_access.hpp"

#include "libactors/base/clock.hpp"

#include <chrono>
#include <poll.h>
#include <utility>

namespace headrace::run {
namespace {

constexpr std::chrono::milliseconds patience{300'000};
constexpr int pause_ms = 200;

} // namespace

remote_access::remote_access(client::remote_cluster& cluster, std::function<bool()> is_interrupted,
                             std::function<void(const std::string&)> tell)
    : cluster_(cluster), is_interrupted_(std::move(is_interrupted)), tell_(std::move(tell)) {}

status remote_access::recover(const error& failure) {
  if (!client::remote_cluster::is_away(failure))
    return failure;
  const system_clock time;
  const auto end_us = time.now_us() + std::chrono::microseconds(patience).count();
  bool is_told = false;
  while (true) {
    const auto found = cluster_.find_again();
    if (found)
      return {};
    if (!client::remote_cluster::is_away(found.error()) || time.now_us() > end_us)
      return found.error();
    if (!std::exchange(is_told, true) && tell_)
      tell_("job manager does not answer; the job is followed again as soon as it does");
    if (is_interrupted_())
      return error(errc::peer_lost, "job manager does not answer, so the job was not canceled",
                   found.error());
    ::poll(nullptr, 0, pause_ms);
  }
}

} // namespace headrace::run
