#include "apps/run/remote_access.hpp"

#include <utility>

namespace headrace::run {

remote_access::remote_access(client::remote_cluster& cluster, std::function<bool()> is_interrupted,
                             std::function<void(const std::string&)> tell)
    : cluster_(cluster), is_interrupted_(std::move(is_interrupted)), tell_(std::move(tell)) {}

status remote_access::recover(const error& failure) {
  const auto tell = [this] {
    if (tell_)
      tell_("job manager does not answer; the job is followed again as soon as it does");
  };
  auto found = cluster_.await_again(failure, tell, is_interrupted_);
  if (!found && is_interrupted_() && client::remote_cluster::is_away(failure))
    return error(errc::peer_lost, "the job was not canceled", std::move(found).error());
  return found;
}

} // namespace headrace::run
