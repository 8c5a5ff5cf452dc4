#pragma once

#include "apps/cluster/cluster_access.hpp"
#include "apps/shell/shell_session.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

namespace headrace::testing {

/// A session with a cluster of its own, in this process.
class testing_shell {
public:
  testing_shell() : files_(make_local_file_system()), loader_(*files_) {
    auto started = cluster::start_local_cluster(*files_, loader_, {});
    REQUIRE(started.has_value());
    cluster_ = std::move(*started);
    session_ = std::make_unique<shell::shell_session>(*cluster_, *files_, loader_);
  }
  shell::shell_session& session() { return *session_; }

private:
  std::unique_ptr<file_system> files_;
  api::object_loader loader_;
  std::unique_ptr<cluster::cluster_access> cluster_;
  std::unique_ptr<shell::shell_session> session_;
};

} // namespace headrace::testing
