#include "libtask/network/data_frame.hpp"

#include "libtask/network/exchange_mail.hpp"
#include "libgraph/data/batch_layout.hpp"
#include "libgraph/data/savepoint_codec.hpp"
#include "libactors/message/ids_codec.hpp"
#include "libactors/message/message.hpp"
#include "schema/data.capnp.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace headrace::task {

namespace {

using graph::batch_layout::align;

error malformed(const char* what) {
  return {errc::malformed_message, std::string("malformed data frame: ") + what};
}

template <class List>
unsigned count_of(const List& list) {
  return static_cast<unsigned>(list.size());
}

void write_element(schema::StreamElement::Builder out, const wire_element& element) {
  out.setCost(element.cost);
  const auto& content = element.content;
  if (const auto* batch = std::get_if<wire_batch>(&content)) {
    auto to = out.initBatch();
    to.setSizeBytes(batch->size_bytes);
    to.setRawBytes(batch->raw_bytes);
  } else if (const auto* mark = std::get_if<graph::watermark>(&content)) {
    out.setWatermarkMs(mark->time_ms);
  } else if (const auto* state = std::get_if<graph::watermark_status>(&content)) {
    out.setIsIdle(state->idle);
  } else if (const auto* split = std::get_if<graph::barrier>(&content)) {
    auto to = out.initBarrier();
    to.setCheckpoint(split->checkpoint);
    to.setTimestampMs(split->timestamp_ms);
    to.setAtLeastOnce(split->alignment == graph::barrier_alignment::at_least_once);
    to.setUnaligned(split->alignment == graph::barrier_alignment::unaligned);
    to.setAlignedTimeoutMs(split->aligned_timeout_ms);
    if (split->savepoint != nullptr)
      write(to.initSavepoint(), *split->savepoint);
  } else if (std::holds_alternative<graph::end_of_input>(content)) {
    out.setEndOfInput();
  } else {
    const auto& marker = std::get<graph::latency_marker>(content);
    auto to = out.initLatencyMarker();
    to.setEmittedUs(marker.emitted_us);
    to.setSourceSubtask(marker.source_subtask);
  }
}

/// Hands out the batches of a body.
class body_reader {
public:
  body_reader(byte_view body, const std::shared_ptr<const void>& owner)
      : body_(body), owner_(owner) {}

  bool at_end() const { return at_ == body_.size(); }
  result<shared_bytes> take(std::uint64_t size) {
    const auto left = body_.size() - at_;
    if (size > left || align(static_cast<std::size_t>(size)) > left)
      return malformed("a batch beyond the end of the body");
    shared_bytes out{body_.substr(at_, static_cast<std::size_t>(size)), owner_};
    at_ += align(static_cast<std::size_t>(size));
    return out;
  }
  std::size_t size_bytes() const { return body_.size(); }

private:
  byte_view body_;
  const std::shared_ptr<const void>& owner_;
  std::size_t at_ = 0;
};

result<wire_element> read_element(schema::StreamElement::Reader in, body_reader& body) {
  wire_element out;
  out.cost = in.getCost();
  if (out.cost < exchange_cost_least || out.cost > wire_cost_max)
    return malformed("an element of impossible cost");
  switch (in.which()) {
  case schema::StreamElement::BATCH: {
    const auto from = in.getBatch();
    wire_batch batch;
    batch.raw_bytes = from.getRawBytes();
    if (batch.raw_bytes > wire_batch_bytes_max || from.getSizeBytes() > wire_batch_bytes_max)
      return malformed("a batch of more bytes than allowed");
    if (std::max(batch.raw_bytes, from.getSizeBytes()) > out.cost)
      return malformed("a batch that costs less than its bytes");
    HEADRACE_TRY(auto bytes, body.take(from.getSizeBytes()));
    batch.pieces.push_back(std::move(bytes));
    batch.size_bytes = static_cast<std::size_t>(from.getSizeBytes());
    batch.pinned_bytes = body.size_bytes();
    out.content = std::move(batch);
    return out;
  }
  case schema::StreamElement::WATERMARK_MS:
    out.content = graph::watermark{in.getWatermarkMs()};
    return out;
  case schema::StreamElement::IS_IDLE:
    out.content = graph::watermark_status{in.getIsIdle()};
    return out;
  case schema::StreamElement::BARRIER: {
    const auto from = in.getBarrier();
    graph::barrier split{from.getCheckpoint(), from.getTimestampMs(),
                         from.getAtLeastOnce() ? graph::barrier_alignment::at_least_once
                         : from.getUnaligned() ? graph::barrier_alignment::unaligned
                                               : graph::barrier_alignment::exactly_once};
    split.aligned_timeout_ms = from.getAlignedTimeoutMs();
    if (from.hasSavepoint()) {
      HEADRACE_TRY(auto order, graph::read_savepoint_order(from.getSavepoint()));
      split.savepoint = std::make_shared<const graph::savepoint_order>(std::move(order));
    }
    out.content = std::move(split);
    return out;
  }
  case schema::StreamElement::END_OF_INPUT:
    out.content = graph::end_of_input{};
    return out;
  case schema::StreamElement::LATENCY_MARKER: {
    const auto from = in.getLatencyMarker();
    out.content = graph::latency_marker{from.getEmittedUs(), from.getSourceSubtask()};
    return out;
  }
  }
  return malformed("an element of an unknown kind");
}

status read_pieces(schema::DataFrame::Reader in, body_reader& body, data_frame& out) {
  for (const auto piece : in.getPieces()) {
    auto& to = out.pieces.emplace_back();
    to.route = piece.getRoute();
    to.closes = piece.getCloses();
    const auto elements = piece.getElements();
    to.elements.reserve(elements.size());
    for (const auto element : elements) {
      HEADRACE_TRY(auto read, read_element(element, body));
      to.elements.push_back(std::move(read));
    }
  }
  if (!body.at_end())
    return malformed("bytes that belong to no batch");
  return {};
}

status read_controls(schema::DataFrame::Reader in, data_frame& out) {
  for (const auto request : in.getRequests()) {
    if (request.getCreditBytes() > wire_cost_max)
      return malformed("impossible credit");
    out.requests.push_back({request.getRoute(), read_partition(request.getPartition()),
                            request.getSubpartition(), request.getCreditBytes()});
  }
  for (const auto refusal : in.getRefusals())
    out.refusals.push_back({refusal.getRoute(), read_error(refusal.getReason())});
  for (const auto credit : in.getCredits()) {
    if (credit.getBytes() > wire_cost_max)
      return malformed("impossible credit");
    out.credits.push_back({credit.getRoute(), credit.getBytes()});
  }
  for (const auto route : in.getAbandoned())
    out.abandoned.push_back(route);
  return {};
}

/// Up to the next multiple of 64.
void fill_up(encoded_frame& made) {
  static constexpr char zeros[graph::batch_layout::alignment_bytes] = {};
  const auto missing = align(made.body_bytes) - made.body_bytes;
  if (missing > 0)
    made.body.push_back({{zeros, missing}, nullptr});
  made.body_bytes += missing;
}

void write_pieces(schema::DataFrame::Builder out, const data_frame& frame, encoded_frame& made) {
  if (frame.pieces.empty())
    return;
  auto pieces = out.initPieces(count_of(frame.pieces));
  for (unsigned i = 0; i < pieces.size(); ++i) {
    const auto& piece = frame.pieces[i];
    pieces[i].setRoute(piece.route);
    pieces[i].setCloses(piece.closes);
    auto elements = pieces[i].initElements(count_of(piece.elements));
    for (unsigned k = 0; k < elements.size(); ++k) {
      const auto& element = piece.elements[k];
      write_element(elements[k], element);
      if (const auto* batch = std::get_if<wire_batch>(&element.content)) {
        made.body.insert(made.body.end(), batch->pieces.begin(), batch->pieces.end());
        made.body_bytes += batch->size_bytes;
        fill_up(made);
      }
    }
  }
}

void write_controls(schema::DataFrame::Builder out, const data_frame& frame) {
  if (!frame.requests.empty()) {
    auto requests = out.initRequests(count_of(frame.requests));
    for (unsigned i = 0; i < requests.size(); ++i) {
      requests[i].setRoute(frame.requests[i].route);
      write(requests[i].initPartition(), frame.requests[i].partition);
      requests[i].setSubpartition(frame.requests[i].subpartition);
      requests[i].setCreditBytes(frame.requests[i].credit_bytes);
    }
  }
  if (!frame.refusals.empty()) {
    auto refusals = out.initRefusals(count_of(frame.refusals));
    for (unsigned i = 0; i < refusals.size(); ++i) {
      refusals[i].setRoute(frame.refusals[i].route);
      write(refusals[i].initReason(), frame.refusals[i].reason);
    }
  }
  if (!frame.credits.empty()) {
    auto credits = out.initCredits(count_of(frame.credits));
    for (unsigned i = 0; i < credits.size(); ++i) {
      credits[i].setRoute(frame.credits[i].route);
      credits[i].setBytes(frame.credits[i].bytes);
    }
  }
  if (!frame.abandoned.empty()) {
    auto abandoned = out.initAbandoned(count_of(frame.abandoned));
    for (unsigned i = 0; i < abandoned.size(); ++i)
      abandoned.set(i, frame.abandoned[i]);
  }
}

} // namespace

encoded_frame encode_frame(const data_frame& frame) {
  encoded_frame made;
  message_builder<schema::DataFrame> builder;
  made.body.emplace_back(); // the words
  builder->setLeaves(frame.leaves);
  write_controls(*builder, frame);
  write_pieces(*builder, frame, made);
  const auto finished = builder.finish();
  const auto words = finished.untyped().words().asBytes();
  const auto first = graph::buffer::allocate(align(words.size()));
  std::memcpy(first->mutable_data(), words.begin(), words.size());
  std::memset(first->mutable_data() + words.size(), 0, first->size_bytes() - words.size());
  made.body.front() = {{first->as<char>(), first->size_bytes()}, first};
  made.body_bytes += first->size_bytes();
  byte_writer(made.header).put(static_cast<std::uint32_t>(words.size()));
  return made;
}

result<data_frame> decode_frame(byte_view header, byte_view body,
                                const std::shared_ptr<const void>& owner) {
  byte_reader prefix(header);
  HEADRACE_TRY(const auto size, prefix.get<std::uint32_t>());
  if (!prefix.at_end() || size > body.size() || align(size) > body.size())
    return malformed("words beyond the end of the body");
  HEADRACE_TRY(auto checked,
               validate_message(type_id_of<schema::DataFrame>(), body.substr(0, size)));
  const message<schema::DataFrame> words(std::move(checked));
  return checked_read([&]() -> result<data_frame> {
    const auto view = words.view();
    data_frame out;
    body_reader batches(body.substr(align(size)), owner);
    HEADRACE_CHECK(read_controls(*view, out));
    HEADRACE_CHECK(read_pieces(*view, batches, out));
    out.leaves = view->getLeaves();
    return out;
  });
}

} // namespace headrace::task
