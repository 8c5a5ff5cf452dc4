#include "libtask/operator/collect_operator.hpp"

#include "libgraph/data/batch_codec.hpp"
#include "libactors/message/message.hpp"
#include "schema/collect.capnp.h"

#include <algorithm>
#include <utility>

namespace headrace::task {

namespace {

std::size_t size_of(const std::vector<byte_string>& batches) {
  std::size_t out = 0;
  for (const auto& batch : batches)
    out += batch.size();
  return out;
}

} // namespace

collect_operator::limits collect_limits(std::int32_t parallelism) {
  constexpr std::size_t all_untaken_bytes = std::size_t{128} << 20U;
  collect_operator::limits most;
  most.untaken_bytes =
      std::clamp<std::size_t>(all_untaken_bytes / static_cast<std::size_t>(parallelism),
                              std::size_t{64} << 10U, most.untaken_bytes);
  most.event_bytes = std::min(most.event_bytes, most.untaken_bytes);
  return most;
}

collect_operator::collect_operator(const graph::operator_node& node,
                                   const operator_context& context, limits most)
    : id_(node.id), context_(context), most_(most),
      at_once_(!context.checkpointing || !context.periodic_checkpoints) {}

status collect_operator::open(const operator_states& states) {
  HEADRACE_TRY(stored_, states.plain->list("collected"));
  HEADRACE_CHECK(restore());
  send_visible();
  return {};
}

// An element of the state: of which subtask of how many, and the number it has reached, with or
// without rows. What a checkpoint holds is complete: it is visible.
status collect_operator::restore() {
  for (const auto& element : stored_->elements()) {
    byte_reader in(element);
    HEADRACE_TRY(const auto subtask, in.get<std::int32_t>());
    HEADRACE_TRY(const auto parallelism, in.get<std::int32_t>());
    event known;
    HEADRACE_TRY(known.sequence, in.get<std::int64_t>());
    while (!in.at_end()) {
      HEADRACE_TRY(const auto batch, in.get_bytes());
      known.batches.emplace_back(batch);
    }
    const bool is_own = subtask == context_.subtask && parallelism == context_.parallelism;
    if (!is_own && known.batches.empty())
      continue; // another subtask's number means nothing here
    if (!is_own)
      known.sequence = sequence_ + 1; // rescaled: another run, which counts anew
    sequence_ = std::max(sequence_, known.sequence);
    if (!known.batches.empty())
      visible_.push_back(std::move(known));
  }
  return {};
}

status collect_operator::add(std::int32_t /*input*/, const graph::record_batch& rows) {
  context_.metrics.records_out.add(rows.size());
  auto batch = graph::encode_batch(rows);
  if (at_once_) {
    event now;
    now.batches.push_back(std::move(batch));
    visible_.push_back(std::move(now));
    send_visible();
    return {};
  }
  held_bytes_ += batch.size();
  open_.push_back(std::move(batch));
  if (held_bytes_ <= most_.unsealed_bytes)
    return {};
  return error(errc::memory_exceeded,
               "collect() holds more rows than fit until a checkpoint completes: shorten "
               "execution.checkpointing.interval, or write the rows to files: more than " +
                   std::to_string(most_.unsealed_bytes) + " bytes");
}

status collect_operator::end_input(std::int32_t /*input*/) {
  ended_ = true;
  if (!at_once_)
    return {}; // the final checkpoint makes the last rows visible
  event last;
  last.is_last = true;
  visible_.push_back(std::move(last));
  send_visible();
  return {};
}

bool collect_operator::is_blocked() const { return !visible_.empty(); }

status collect_operator::on_event(byte_view said) {
  HEADRACE_TRY(auto raw, validate_message(type_id_of<schema::CollectTaken>(), said));
  HEADRACE_TRY(const auto taken, checked_read([&]() -> result<std::uint64_t> {
                 return message<schema::CollectTaken>(std::move(raw)).view()->getBytes();
               }));
  untaken_bytes_ -= std::min<std::size_t>(untaken_bytes_, taken);
  send_visible();
  return {};
}

void collect_operator::seal(checkpoint_id checkpoint) {
  if (open_.empty() && (!ended_ || end_is_sealed_))
    return;
  auto& events = sealed_[checkpoint];
  const auto begin = [&] {
    events.push_back({});
    events.back().sequence = ++sequence_;
  };
  begin();
  std::size_t bytes = 0;
  for (auto& batch : open_) {
    if (bytes > 0 && bytes + batch.size() > most_.event_bytes) {
      begin();
      bytes = 0;
    }
    bytes += batch.size();
    events.back().batches.push_back(std::move(batch));
  }
  open_.clear();
  events.back().is_last = ended_;
  end_is_sealed_ = ended_;
}

void collect_operator::snapshot(checkpoint_id checkpoint, std::function<void(status)> done) {
  if (!at_once_) {
    seal(checkpoint);
    store();
  }
  done({});
}

// Of sealed events alone: while visible ones wait to be sent, no barrier gets in.
void collect_operator::store() const {
  std::vector<byte_string> elements;
  event reached; // the newest number, for when no event is left
  reached.sequence = sequence_;
  elements.push_back(encode(reached));
  for (const auto& [checkpoint, events] : sealed_)
    for (const auto& one : events)
      elements.push_back(encode(one));
  stored_->replace(std::move(elements));
}

status collect_operator::notify_completed(checkpoint_id checkpoint) {
  const auto end = sealed_.upper_bound(checkpoint);
  for (auto at = sealed_.begin(); at != end; ++at)
    for (auto& one : at->second) {
      held_bytes_ -= size_of(one.batches);
      visible_.push_back(std::move(one));
    }
  sealed_.erase(sealed_.begin(), end);
  send_visible();
  return {};
}

void collect_operator::send_visible() {
  while (!visible_.empty()) {
    const auto bytes = size_of(visible_.front().batches);
    if (untaken_bytes_ > 0 && untaken_bytes_ + bytes > most_.untaken_bytes)
      return;
    untaken_bytes_ += bytes;
    context_.services.send_to_coordinator(id_, message_of(visible_.front()));
    visible_.pop_front();
  }
}

byte_string collect_operator::encode(const event& what) const {
  byte_string out;
  byte_writer writer(out);
  writer.put(context_.subtask);
  writer.put(context_.parallelism);
  writer.put(what.sequence);
  for (const auto& batch : what.batches)
    writer.put_bytes(batch);
  return out;
}

byte_string collect_operator::message_of(const event& what) {
  message_builder<schema::CollectEvent> out;
  out->setSequence(what.sequence);
  out->setIsLast(what.is_last);
  auto batches = out->initBatches(static_cast<unsigned>(what.batches.size()));
  for (unsigned i = 0; i < batches.size(); ++i) {
    const auto& batch = what.batches[i];
    batches.set(
        i, capnp::Data::Reader(reinterpret_cast<const unsigned char*>(batch.data()), batch.size()));
  }
  const auto whole = out.finish();
  const auto words = whole.untyped().words().asBytes();
  return {reinterpret_cast<const char*>(words.begin()), words.size()};
}

} // namespace headrace::task
