#pragma once

#include "libtask/operator/stream_operator.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace headrace::task {

/// Gives rows to the job's client, by way of the job master. Exactly-once: rows are held back until
/// the checkpoint behind them is complete. Events are numbered and part of the checkpoint, so that
/// the job master knows those that come again after a recovery. Without periodic checkpoints rows
/// go at once.
///
///     rows ─▶ open_ ── barrier n ──▶ sealed_[n] ── n completed ──▶ visible_ ──▶ job master
///                                                                  ◀── taken by the client
///
/// Events that the client has not taken are bounded: behind them the visible ones wait, and behind
/// those the input. Rows between two checkpoints are bounded too, and fail the task beyond.
/// Lives on the subtask's mailbox; see stream_operator.
class collect_operator final : public stream_operator {
public:
  /// Of rows as they are encoded.
  struct limits {
    std::size_t event_bytes = std::size_t{1} << 20U;     ///< about, in one event
    std::size_t untaken_bytes = std::size_t{4} << 20U;   ///< sent, and not taken by the client
    std::size_t unsealed_bytes = std::size_t{64} << 20U; ///< that wait for a checkpoint
  };
  collect_operator(const graph::operator_node& node, const operator_context& context, limits most);

  status open(const operator_states& states) override;
  status add(std::int32_t input, const graph::record_batch& rows) override;
  status end_input(std::int32_t input) override;
  bool is_blocked() const override;
  status on_event(byte_view said) override;
  void snapshot(checkpoint_id checkpoint, std::function<void(status)> done) override;
  status notify_completed(checkpoint_id checkpoint) override;
  bool has_unfinished_work() const override { return !visible_.empty(); }

private:
  struct event {
    std::int64_t sequence = 0; ///< 0: not numbered
    bool is_last = false;
    std::vector<byte_string> batches;
  };
  status restore();
  /// Moves the open rows into events of the checkpoint.
  void seal(checkpoint_id checkpoint);
  void store() const;
  void send_visible();
  byte_string encode(const event& what) const;
  static byte_string message_of(const event& what);

  operator_id id_;
  operator_context context_;
  limits most_;
  bool at_once_;
  state::operator_list_state* stored_ = nullptr;
  std::vector<byte_string> open_;
  std::size_t held_bytes_ = 0; ///< open and sealed
  std::map<checkpoint_id, std::vector<event>> sealed_;
  std::deque<event> visible_;
  std::size_t untaken_bytes_ = 0;
  std::int64_t sequence_ = 0; ///< of the newest sealed event
  bool ended_ = false;
  bool end_is_sealed_ = false;
};

/// The limits of each subtask of an operator: their sum over all is what a job master takes.
collect_operator::limits collect_limits(std::int32_t parallelism);

} // namespace headrace::task
