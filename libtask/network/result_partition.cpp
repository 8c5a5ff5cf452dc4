#include "libtask/network/result_partition.hpp"

#include "libstate/channel/channel_state.hpp"
#include "libactors/base/assert.hpp"

#include <algorithm>
#include <utility>

namespace headrace::task {

result_partition::result_partition(std::unique_ptr<partitioner> split, std::uint32_t subpartitions,
                                   result_partition_limits limits)
    : partitioner_(std::move(split)), limits_(limits), parts_(subpartitions) {}

void result_partition::emit(const graph::record_batch& rows, std::int64_t now_us) {
  if (rows.is_empty())
    return;
  rows_out_ += rows.size();
  pieces_.clear();
  partitioner_->split(rows, pieces_);
  for (auto& piece : pieces_) {
    HEADRACE_ASSERT(piece.target < parts_.size(), "partitioner chose an unknown target");
    add_piece(parts_[piece.target], std::move(piece.rows), now_us);
  }
  pieces_.clear();
  if (pending_bytes_ >= limits_.pending_bytes)
    flush();
}

void result_partition::add_piece(subpartition& to, graph::record_batch rows, std::int64_t now_us) {
  if (rows.is_empty())
    return;
  rows = rows.compact_if_sparse();
  if (to.pending.empty() && rows.size() >= limits_.direct_rows) {
    enqueue(to, std::move(rows));
    send(to);
    return;
  }
  if (to.pending.empty() && pending_parts_++ == 0)
    pending_since_us_ = now_us;
  const auto bytes = exchange_cost(graph::stream_element(rows));
  to.pending_rows += rows.size();
  to.pending_bytes += bytes;
  pending_bytes_ += bytes;
  to.pending.push_back(std::move(rows));
  if (to.pending_rows >= limits_.piece_rows || to.pending_bytes >= limits_.piece_bytes)
    flush(to);
}

void result_partition::broadcast(const graph::stream_element& element) {
  for (auto& part : parts_) {
    flush(part);
    enqueue(part, element);
    send(part);
  }
}

result_partition::element_list::iterator result_partition::find_barrier(subpartition& part,
                                                                        checkpoint_id checkpoint) {
  return std::find_if(part.queue.begin(), part.queue.end(), [&](const auto& element) {
    const auto* split = std::get_if<graph::barrier>(&element);
    return split != nullptr && split->checkpoint == checkpoint;
  });
}

void result_partition::overtake(const graph::barrier& split, std::vector<overtaken_elements>& out) {
  for (std::uint32_t i = 0; i < parts_.size(); ++i) {
    flush(parts_[i]);
    go_ahead(i, split, parts_[i].queue.end(), out);
  }
}

void result_partition::overtake_waiting(const graph::barrier& split,
                                        std::vector<overtaken_elements>& out) {
  for (std::uint32_t i = 0; i < parts_.size() && waiting_barriers_ > 0; ++i) {
    auto& part = parts_[i];
    const auto waiting = find_barrier(part, split.checkpoint);
    if (waiting == part.queue.end())
      continue;
    --waiting_barriers_;
    go_ahead(i, split, part.queue.erase(waiting), out);
  }
}

void result_partition::go_ahead(std::uint32_t index, const graph::barrier& split,
                                element_list::iterator end, std::vector<overtaken_elements>& out) {
  auto& part = parts_[index];
  overtaken_elements found{index, {}};
  for (auto at = part.queue.begin(); at != end; ++at)
    if (state::is_kept_in_flight(*at))
      found.elements.push_back(*at);
  if (!found.elements.empty())
    out.push_back(std::move(found));
  if (part.consumer == nullptr) { // it goes with the first credit
    part.queue.push_front(split);
    ++waiting_barriers_;
    return;
  }
  const auto taken = part.consumer->add(split);
  part.credit_bytes -= static_cast<std::int64_t>(taken.cost);
  part.consumer->flush(false);
}

bool result_partition::has_waiting_barrier(checkpoint_id checkpoint) const {
  if (waiting_barriers_ == 0)
    return false;
  return std::any_of(parts_.begin(), parts_.end(), [&](const subpartition& part) {
    return std::any_of(part.queue.begin(), part.queue.end(), [&](const auto& element) {
      const auto* split = std::get_if<graph::barrier>(&element);
      return split != nullptr && split->checkpoint == checkpoint;
    });
  });
}

void result_partition::restore(std::uint32_t index, std::vector<graph::stream_element> elements) {
  HEADRACE_ASSERT(index < parts_.size(), "data of an unknown subpartition");
  for (auto& element : elements)
    enqueue(parts_[index], std::move(element));
  send(parts_[index]);
}

void result_partition::restore(const graph::record_batch& rows) {
  std::vector<target_piece> pieces;
  if (!rows.is_empty())
    partitioner_->split(rows, pieces);
  for (auto& piece : pieces)
    restore(piece.target, {piece.rows.compact_if_sparse()});
}

void result_partition::flush() {
  if (pending_parts_ == 0)
    return;
  for (auto& part : parts_)
    flush(part);
}

void result_partition::flush(subpartition& part) {
  if (part.pending.empty())
    return;
  graph::record_batch piece =
      part.pending.size() == 1 ? std::move(part.pending.front()) : graph::concatenate(part.pending);
  part.pending.clear();
  pending_bytes_ -= part.pending_bytes;
  part.pending_rows = 0;
  part.pending_bytes = 0;
  --pending_parts_;
  enqueue(part, std::move(piece));
  send(part);
}

void result_partition::close() {
  for (auto& part : parts_) {
    flush(part);
    part.closing = true;
    send(part);
  }
}

void result_partition::attach(std::uint32_t index, std::unique_ptr<exchange_channel> consumer,
                              std::uint64_t credit_bytes) {
  HEADRACE_ASSERT(index < parts_.size(), "consumer of an unknown subpartition");
  auto& part = parts_[index];
  part.consumer = std::move(consumer);
  part.credit_bytes = static_cast<std::int64_t>(std::min(credit_bytes, wire_cost_max));
  send(part);
}

void result_partition::add_credit(std::uint32_t index, std::uint64_t bytes) {
  HEADRACE_ASSERT(index < parts_.size(), "credit of an unknown subpartition");
  auto& part = parts_[index];
  // Another node's word must not overflow the sum.
  constexpr auto most = static_cast<std::int64_t>(wire_cost_max);
  part.credit_bytes += static_cast<std::int64_t>(std::min(bytes, wire_cost_max));
  part.credit_bytes = std::min(part.credit_bytes, most);
  send(part);
}

void result_partition::enqueue(subpartition& part, graph::stream_element element) {
  if (std::holds_alternative<graph::record_batch>(element)) {
    ++part.queued_batches;
  } else if (std::holds_alternative<graph::watermark>(element) && !part.queue.empty() &&
             std::holds_alternative<graph::watermark>(part.queue.back())) {
    part.queue.back() = std::move(element); // the later one says it all
    return;
  } else if (std::holds_alternative<graph::barrier>(element)) {
    ++waiting_barriers_;
  }
  part.queue.push_back(std::move(element));
}

void result_partition::send(subpartition& part) {
  if (part.consumer != nullptr) {
    const bool adds = !part.queue.empty() && part.credit_bytes > 0;
    while (!part.queue.empty() && part.credit_bytes > 0)
      send_front(part);
    const bool closes = part.closing && !part.closed && part.queue.empty();
    part.closed = part.closed || closes;
    if (adds || closes)
      part.consumer->flush(closes);
  }
  const bool starved = part.queued_batches > 0;
  if (starved != part.is_starved) {
    part.is_starved = starved;
    starved_ = starved ? starved_ + 1 : starved_ - 1;
  }
}

void result_partition::send_front(subpartition& part) {
  auto& front = part.queue.front();
  const bool has_rows = std::holds_alternative<graph::record_batch>(front);
  if (std::holds_alternative<graph::barrier>(front))
    --waiting_barriers_;
  auto taken = part.consumer->add(std::move(front));
  part.credit_bytes -= static_cast<std::int64_t>(taken.cost);
  if (has_rows)
    bytes_out_ += taken.cost;
  if (taken.rest) {
    front = *std::move(taken.rest);
    return;
  }
  if (has_rows)
    --part.queued_batches;
  part.queue.pop_front();
}

bool result_partition::is_drained() const {
  if (pending_parts_ > 0)
    return false;
  for (const auto& part : parts_)
    if (!part.queue.empty() || (part.closing && !part.closed))
      return false;
  return true;
}

std::optional<std::int64_t> result_partition::pending_since_us() const {
  if (pending_parts_ == 0)
    return std::nullopt;
  return pending_since_us_;
}

} // namespace headrace::task
