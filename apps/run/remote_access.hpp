#pragma once

#include "apps/client/remote_cluster.hpp"
#include "apps/run/job_access.hpp"

#include <functional>
#include <string>

namespace headrace::run {

/// A cluster of other processes, whose job manager may be away for a while.
class remote_access final : public job_access {
public:
  /// @param is_interrupted  asked while it waits: the user wants no more of it
  /// @param tell            words for the user; empty: keeps silent
  remote_access(client::remote_cluster& cluster, std::function<bool()> is_interrupted,
                std::function<void(const std::string&)> tell);

  scheduler::job_client& client() override { return cluster_.client(); }
  status recover(const error& failure) override;

private:
  client::remote_cluster& cluster_;
  std::function<bool()> is_interrupted_;
  std::function<void(const std::string&)> tell_;
};

} // namespace headrace::run
