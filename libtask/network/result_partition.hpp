#pragma once

#include "libtask/network/exchange_mail.hpp"
#include "libtask/network/partitioner.hpp"
#include "libgraph/data/stream_element.hpp"

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <vector>

namespace headrace::task {

/// Where a subpartition's elements go. Never blocks.
class exchange_channel {
public:
  /// What became of an element.
  struct taken {
    std::size_t cost = 0;                    ///< bytes of credit that it takes
    std::optional<graph::record_batch> rest; ///< rows too many to go at once: to be added next
  };
  virtual ~exchange_channel() = default;
  /// Takes the next element, which goes out with `flush`.
  virtual taken add(graph::stream_element element) = 0;
  /// Sends what was added. `closes`: nothing follows.
  virtual void flush(bool closes) = 0;
};

/// What a barrier went ahead of in one subpartition: rows and watermarks, in order.
struct overtaken_elements {
  std::uint32_t subpartition = 0;
  std::vector<graph::stream_element> elements;
};

struct result_partition_limits {
  std::size_t piece_rows = 4096; ///< a pending piece goes out at this size …
  std::size_t piece_bytes = std::size_t{256} << 10U;
  std::size_t direct_rows = 1024; ///< a split of this size needs no pending piece
  std::size_t pending_bytes = std::size_t{8} << 20U; ///< of all pending pieces together
};

/// What one subtask writes for one intermediate result: a queue a consumer, with its credit.
///
/// Rows are split by the partitioner; small splits are gathered in a pending piece a subpartition,
/// which goes out when it is full, when `flush` is called (input idle, buffer timeout), or before a
/// watermark, barrier or end, which go to all subpartitions. What has no credit, or no consumer
/// yet, waits; then `is_available` is false and the task stops taking input. One element may
/// overdraw the credit, so that a batch larger than a window gets through; the channel says what an
/// element costs. The barrier of an unaligned checkpoint goes ahead of all that waits, and needs no
/// credit. Lives on the task's mailbox.
///
///     emit ─▶ partitioner ─┬▶ pending 0 ─▶ queue 0 ─ credit ─▶ consumer 0
///                          └▶ pending 1 ─▶ queue 1 ─ credit ─▶ consumer 1
class result_partition {
public:
  result_partition(std::unique_ptr<partitioner> split, std::uint32_t subpartitions,
                   result_partition_limits limits = {});

  void emit(const graph::record_batch& rows, std::int64_t now_us);
  void broadcast(const graph::stream_element& element);
  /// Sends an unaligned barrier at once to every subpartition. Adds to `out` what it has overtaken.
  void overtake(const graph::barrier& split, std::vector<overtaken_elements>& out);
  /// The same for those subpartitions only in which the checkpoint's barrier waits already.
  void overtake_waiting(const graph::barrier& split, std::vector<overtaken_elements>& out);
  bool has_waiting_barrier(checkpoint_id checkpoint) const;
  /// Puts back what a checkpoint has stored of a subpartition. Before anything is emitted.
  void restore(std::uint32_t subpartition, std::vector<graph::stream_element> elements);
  /// The same with rows that were for other subpartitions: they are split anew.
  void restore(const graph::record_batch& rows);
  void flush();
  /// The producer has finished: consumers are told behind what waits.
  void close();

  void attach(std::uint32_t subpartition, std::unique_ptr<exchange_channel> consumer,
              std::uint64_t credit_bytes);
  void add_credit(std::uint32_t subpartition, std::uint64_t bytes);

  bool is_available() const { return starved_ == 0; }
  /// Nothing waits: all was sent, and the close too when there was one.
  bool is_drained() const;
  /// When the oldest row was put into a pending piece; nothing: no row is pending.
  std::optional<std::int64_t> pending_since_us() const;
  std::uint32_t subpartition_count() const { return static_cast<std::uint32_t>(parts_.size()); }
  std::uint64_t rows_out() const { return rows_out_; }
  std::uint64_t bytes_out() const { return bytes_out_; }

private:
  struct subpartition {
    std::vector<graph::record_batch> pending;
    std::size_t pending_rows = 0;
    std::size_t pending_bytes = 0;
    std::list<graph::stream_element> queue; ///< most are empty: takes nothing then
    std::size_t queued_batches = 0;
    std::unique_ptr<exchange_channel> consumer;
    std::int64_t credit_bytes = 0;
    bool closing = false;
    bool closed = false;
    bool is_starved = false;
  };
  void add_piece(subpartition& to, graph::record_batch rows, std::int64_t now_us);
  void flush(subpartition& part);
  void enqueue(subpartition& part, graph::stream_element element);
  using element_list = std::list<graph::stream_element>;
  /// Sends the barrier, and gives what waits before `end`.
  void go_ahead(std::uint32_t index, const graph::barrier& split, element_list::iterator end,
                std::vector<overtaken_elements>& out);
  static element_list::iterator find_barrier(subpartition& part, checkpoint_id checkpoint);
  void send(subpartition& part);
  void send_front(subpartition& part);

  std::unique_ptr<partitioner> partitioner_;
  result_partition_limits limits_;
  std::vector<subpartition> parts_;
  std::vector<target_piece> pieces_; ///< reused
  std::size_t starved_ = 0;
  std::size_t pending_bytes_ = 0;
  std::size_t pending_parts_ = 0;
  std::size_t waiting_barriers_ = 0;
  std::int64_t pending_since_us_ = 0;
  std::uint64_t rows_out_ = 0;
  std::uint64_t bytes_out_ = 0;
};

} // namespace headrace::task
