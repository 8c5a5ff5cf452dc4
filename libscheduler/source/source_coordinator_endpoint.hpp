#pragma once

#include "libscheduler/source/reader_outbox.hpp"
#include "libscheduler/source/source_factory.hpp"
#include "libscheduler/source/source_mail.hpp"
#include "libscheduler/source/split_assignment_tracker.hpp"
#include "libactors/rpc/endpoint.hpp"
#include "schema/source.capnp.h"

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace headrace::scheduler {

/// What the coordinator of one source is made from. Pointers live longer than the job.
struct source_coordinator_options {
  std::shared_ptr<const graph::job_graph> job;
  std::int32_t vertex = 0; ///< position in the graph; the source heads its chain
  const graph::connector_registry* connectors = nullptr;
  graph::job_code_loader* code = nullptr; ///< may be null
  std::string artifact_directory;
  file_system* files = nullptr;
};

/// Runs the split enumerator of one source: discovers splits and hands them to the readers, whose
/// events come through the job master. A child of the job master. Idle until its first
/// coordinator_reset.
class source_coordinator_endpoint final : public actors::endpoint {
public:
  source_coordinator_endpoint(source_coordinator_options options, actors::actor_ref job_master);
  ~source_coordinator_endpoint() override;

private:
  class context;
  struct reader {
    execution_attempt_id attempt;
    actors::address location;
  };
  using discovery = std::function<result<std::vector<graph::source_split>>()>;
  using discovered = std::function<status(result<std::vector<graph::source_split>>)>;

  void on_mail(actors::mail_ptr content) override;
  void on_stop(const error& cause) override;

  void reset(coordinator_reset what);
  void load();
  void start_enumerator();
  void close_enumerator();
  void reset_readers(const readers_reset& what);
  void hear(const reader_said& what);
  void snapshot(const coordinator_snapshot_wanted& what);
  void resume(checkpoint_id checkpoint);

  /// Calls the enumerator, then carries out what it asked of its context.
  void call(const std::function<status()>& method);
  void send(std::int32_t reader, const message<schema::SourceEvent>& event);
  void deliver(std::int32_t reader, const message<schema::SourceEvent>& event);
  void assign(std::int32_t reader, std::vector<graph::source_split> splits);
  void discover(discovery step, discovered handle, std::chrono::milliseconds period);
  void fail(const error& cause);
  const graph::operator_node& node() const;
  const graph::connector_spec& connector() const;

  source_coordinator_options options_;
  actors::actor_ref job_master_;
  std::optional<loaded_source> source_;
  bool is_loading_ = false;
  std::optional<coordinator_reset> pending_reset_; // waits for the source
  std::unique_ptr<context> context_;
  std::unique_ptr<graph::split_enumerator> enumerator_;
  std::uint64_t epoch_ = 0; // of the enumerator: what older ones asked for is dropped
  std::map<std::int32_t, reader> readers_;
  std::deque<reader_said> early_; // heard before the enumerator was there
  split_assignment_tracker tracker_;
  reader_outbox outbox_;
};

} // namespace headrace::scheduler
