#pragma once

#include "libtask/operator/stream_operator.hpp"
#include "libgraph/connector/sink.hpp"

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headrace::task {

/// Writes rows to a sink. The writer's calls run on the executor, one at a time, in the order in
/// which rows and barriers came; rows wait in a bounded queue, and when it is full the operator is
/// blocked. A slow writer's queue is so short that a barrier behind it waits a tenth of a second.
///
/// Exactly-once: at a barrier the writer gives committables. They are part of the checkpoint, and
/// are committed when it is complete; those of a restored checkpoint are committed again first,
/// before the writer is made. A commit that cannot be done now is tried again after a pause, which
/// doubles, some times; meanwhile what came later waits.
///
///     rows ─▶ queue ─▶ writer (executor) ── barrier n ──▶ committables of n ─▶ operator state
///                                   completed n ──▶ committer (executor)
///
/// Lives on the subtask's mailbox; see stream_operator.
class sink_operator final : public stream_operator {
public:
  sink_operator(const graph::operator_node& node, const operator_context& context,
                std::unique_ptr<graph::sink> sink);
  ~sink_operator() override;

  status open(const operator_states& states) override;
  status add(std::int32_t input, const graph::record_batch& rows) override;
  status advance(graph::watermark mark) override;
  status end_input(std::int32_t input) override;
  bool is_blocked() const override;
  std::size_t rows_wanted() const override;
  void snapshot(checkpoint_id checkpoint, std::function<void(status)> done) override;
  status notify_completed(checkpoint_id checkpoint) override;
  bool has_unfinished_work() const override { return running_ || !commands_.empty(); }
  void close() override;

private:
  struct writer_cell;
  struct outcome;
  struct command;
  void enqueue(command next);
  void run_next();
  /// What the executor does for a command; what others throw becomes its failure.
  static outcome try_to_carry_out(writer_cell& cell, const command& what);
  static outcome carry_out(writer_cell& cell, const command& what);
  void finish(const command& what, outcome given);
  /// Gives the committer after a pause what it could not make final.
  void commit_again(const command& failed, graph::commit_later later);
  void store_state(byte_string writer_state);
  void note_write(std::size_t rows, std::int64_t took_us);
  graph::writer_context writer_context() const;
  status take_former_jobs();

  std::string name_;
  operator_id id_;
  operator_context context_;
  std::shared_ptr<writer_cell> writer_; ///< shared with the step that runs
  std::vector<job_id> former_jobs_;
  state::broadcast_state* stored_jobs_ = nullptr; ///< this one and former ones, as keys
  state::operator_list_state* stored_writer_ = nullptr;
  state::operator_list_state* stored_committables_ = nullptr;
  std::deque<command> commands_;
  std::size_t queued_batches_ = 0;
  std::size_t queued_bytes_ = 0;
  std::size_t queued_rows_ = 0;
  std::optional<double> row_us_; ///< that the writer has taken for a row lately
  std::map<checkpoint_id, std::vector<graph::committable>> uncommitted_;
  std::int64_t watermark_ms_ = graph::watermark::none;
  bool running_ = false;
  bool is_pausing_ = false; ///< before a commit is tried again
  bool ended_ = false;
  bool failed_ = false;
};

result<std::unique_ptr<stream_operator>> make_sink_operator(const graph::operator_node&,
                                                            const operator_context&);

} // namespace headrace::task
