#pragma once

#include "apps/cluster/cluster_access.hpp"
#include "apps/shell/shell_session.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

namespace headrace::testing {

/// A cluster whose parts are where nobody is, until it is looked for anew.
class moving_cluster final : public cluster::cluster_access {
public:
  explicit moving_cluster(std::unique_ptr<cluster::cluster_access> inner)
      : inner_(std::move(inner)), told_(inner_->addresses()) {}

  actors::node& node() override { return inner_->node(); }
  const scheduler::cluster_addresses& addresses() const override { return told_; }
  bool is_away(const error& failure) const override { return failure.code == errc::peer_lost; }
  status find_again() override {
    ++found;
    told_ = inner_->addresses();
    return {};
  }
  result<std::optional<std::string>> actors_page() override { return inner_->actors_page(); }
  void provide_slots(std::int32_t needed) override { inner_->provide_slots(needed); }
  /// It was moved, and nobody has said so.
  void move() {
    for (auto* each : {&told_.dispatcher, &told_.blob_server, &told_.resource_manager})
      each->endpoint = "gone";
  }

  int found = 0;

private:
  std::unique_ptr<cluster::cluster_access> inner_;
  scheduler::cluster_addresses told_;
};

/// A session with a cluster of its own, in this process.
class testing_shell {
public:
  explicit testing_shell(bool has_moved = false)
      : files_(make_local_file_system()), loader_(*files_) {
    auto started = cluster::start_local_cluster(*files_, loader_, {});
    REQUIRE(started.has_value());
    cluster_ = std::make_unique<moving_cluster>(std::move(*started));
    if (has_moved)
      cluster_->move();
    session_ = std::make_unique<shell::shell_session>(
        *cluster_, *files_, loader_,
        shell::session_output{[this](std::string_view lines) {
                                rows += lines;
                                return status();
                              },
                              {}});
  }
  shell::shell_session& session() { return *session_; }
  moving_cluster& cluster() { return *cluster_; }

  std::string rows; ///< that jobs have collected

private:
  std::unique_ptr<file_system> files_;
  api::object_loader loader_;
  std::unique_ptr<moving_cluster> cluster_;
  std::unique_ptr<shell::shell_session> session_;
};

} // namespace headrace::testing
