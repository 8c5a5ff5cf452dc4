#include "libtask/operator/source_operator.hpp"

#include "libtask/operator/source_events.hpp"
#include "libgraph/function/failure.hpp"
#include "libgraph/spec/make_source.hpp"

#include <atomic>
#include <mutex>
#include <utility>

namespace headrace::task {

namespace {
constexpr std::size_t queue_pieces_max = 8;
constexpr std::size_t step_pieces_max = 4; ///< fetched by one step on the executor …
constexpr std::int64_t step_us = 1'000;    ///< … and no further one after so long
constexpr std::size_t queue_bytes_max = std::size_t{8} << 20U;
constexpr std::string_view splits_state = "splits";

byte_string encode_split(const std::string& id, const byte_string& state) {
  byte_string out;
  byte_writer writer(out);
  writer.put_bytes(id);
  writer.put_bytes(state);
  return out;
}

std::size_t bytes_of(const graph::fetched& piece) {
  return piece.rows.retained_bytes() + piece.left_out.retained_bytes();
}

result<graph::source_split> decode_split(byte_view stored) {
  byte_reader reader(stored);
  HEADRACE_TRY(const auto id, reader.get_bytes());
  HEADRACE_TRY(const auto state, reader.get_bytes());
  return graph::source_split{std::string(id), byte_string(state)};
}
} // namespace

/// The reader, as steps on the executor see it: one at a time.
struct source_operator::reader_cell {
  std::mutex one_at_a_time;
  std::shared_ptr<const graph::job_code> code; ///< outlives the reader that may come from it
  std::unique_ptr<graph::split_reader> reader;
  std::atomic<bool> closed{false};
};

struct source_operator::fetch_outcome {
  std::optional<error> failure;
  std::vector<graph::fetched> pieces;
  bool is_dry = false; ///< the reader has no split to read from
};

source_operator::source_operator(const graph::operator_node& node, const operator_context& context,
                                 std::unique_ptr<graph::source> source,
                                 std::unique_ptr<graph::timestamp_assigner> assigner,
                                 generator_factory generators)
    : id_(node.id), name_(node.name), context_(context), gives_left_out_(!node.side_types.empty()),
      source_(std::move(source)), stamper_(std::get<graph::source_spec>(node.spec).watermarks,
                                           std::move(assigner), context.memory),
      watermarks_(std::get<graph::source_spec>(node.spec).watermarks, std::move(generators)),
      reader_(std::make_shared<reader_cell>()) {
  reader_->code = context.code;
}

source_operator::~source_operator() = default;

status source_operator::open(const operator_states& states) {
  HEADRACE_TRY(stored_, states.plain->list(splits_state));
  HEADRACE_TRY(reader_->reader,
               source_->create_reader({context_.subtask, context_.parallelism, context_.files,
                                       context_.time, context_.log}));
  watermarks_.start(context_.time.now_us());
  std::vector<graph::source_split> restored;
  for (const auto& element : stored_->elements()) {
    HEADRACE_TRY(auto split, decode_split(element));
    restored.push_back(std::move(split));
  }
  context_.log.debug("source reader opened",
                     {{"task", context_.task_name},
                      {"restored_splits", std::to_string(restored.size())},
                      {"first", restored.empty() ? std::string() : restored.front().id}});
  context_.services.send_to_coordinator(
      id_, encode_reader_registration(static_cast<std::uint32_t>(restored.size())));
  if (restored.empty())
    request_split();
  else
    assign(std::move(restored));
  return {};
}

status source_operator::add(std::int32_t /*input*/, const graph::record_batch& /*rows*/) {
  return error(errc::internal, "a source takes no rows");
}

status source_operator::on_event(byte_view event) {
  HEADRACE_TRY(auto orders, decode_reader_orders(event));
  no_more_ = no_more_ || orders.no_more_splits;
  if (!orders.splits.empty()) {
    requested_ = false;
    assign(std::move(orders.splits));
  }
  return {};
}

void source_operator::assign(std::vector<graph::source_split> splits) {
  const auto now_us = context_.time.now_us();
  for (auto& split : splits) {
    splits_[split.id] = split.state;
    watermarks_.add(split.id, now_us);
    ++reading_;
    to_add_.push_back(std::move(split));
  }
  fetch();
}

void source_operator::fetch() {
  if (fetching_ || waiting_ || reading_ == 0 ||
      queue_.size() + step_pieces_max > queue_pieces_max || queue_bytes_ >= queue_bytes_max)
    return;
  fetching_ = true;
  auto outcome = std::make_shared<fetch_outcome>();
  graph::fetch_budget budget;
  budget.rows_max = std::min(budget.rows_max, rows_max_);
  context_.services.run_blocking(
      [cell = reader_, outcome, added = std::exchange(to_add_, {}), &time = context_.time, budget,
       room_bytes = queue_bytes_max - queue_bytes_]() mutable {
        const std::lock_guard guard(cell->one_at_a_time);
        if (cell->closed)
          return;
        try {
          for (auto& split : added) {
            auto taken = cell->reader->add_split(std::move(split));
            if (!taken) {
              outcome->failure = std::move(taken).error();
              return;
            }
          }
          fetch_pieces(*cell->reader, time, budget, room_bytes, *outcome);
        } catch (const graph::failure& failed) {
          outcome->failure = failed.cause();
        } catch (const std::exception& failed) {
          outcome->failure = error(errc::user_function_failed, failed.what());
        }
      },
      [this, outcome] {
        fetching_ = false;
        auto taken = take(std::move(*outcome));
        if (!taken)
          context_.services.fail(error(taken.error().code, "source failed to read: " + name_,
                                       std::move(taken).error()));
      });
}

/// Fetches on while pieces come full and quickly: a step costs two switches of threads.
void source_operator::fetch_pieces(graph::split_reader& reader, const headrace::clock& time,
                                   const graph::fetch_budget& budget, std::size_t room_bytes,
                                   fetch_outcome& into) {
  const auto began_us = time.now_us();
  std::size_t bytes = 0;
  while (into.pieces.size() < step_pieces_max && bytes < room_bytes) {
    auto fetched = reader.fetch(budget);
    if (!fetched) {
      into.failure = std::move(fetched).error();
      return;
    }
    if (!*fetched) {
      into.is_dry = true;
      return;
    }
    auto& piece = into.pieces.emplace_back(std::move(**fetched));
    const auto piece_bytes = bytes_of(piece);
    bytes += piece_bytes;
    const bool is_full =
        piece.rows.size() >= budget.rows_max / 2 || piece_bytes >= budget.bytes_max / 2;
    if (!is_full || piece.split_finished || piece.wait.count() > 0 ||
        time.now_us() - began_us >= step_us)
      return;
  }
}

status source_operator::take(fetch_outcome outcome) {
  if (outcome.failure)
    return *std::move(outcome.failure);
  for (auto& piece : outcome.pieces) {
    context_.metrics.skipped_records.add(piece.skipped_records);
    if (piece.split_finished && reading_ > 0)
      --reading_;
    const auto wait = piece.wait;
    if (!piece.rows.is_empty() || piece.split_finished || !piece.state_after.empty()) {
      queue_bytes_ += bytes_of(piece);
      queue_.push_back(std::move(piece));
    }
    if (wait.count() > 0) {
      waiting_ = true;
      context_.services.after(wait, [this] {
        waiting_ = false;
        fetch();
      });
    }
  }
  if (outcome.is_dry)
    reading_ = to_add_.size();
  if (reading_ == 0)
    request_split();
  fetch();
  return {};
}

void source_operator::request_split() {
  if (no_more_ || std::exchange(requested_, true))
    return;
  context_.services.send_to_coordinator(id_, encode_split_request());
}

source_readiness source_operator::readiness() const {
  if (!queue_.empty() || idle_due_)
    return source_readiness::ready;
  if (no_more_ && reading_ == 0 && !fetching_)
    return source_readiness::finished;
  return source_readiness::waiting;
}

void source_operator::set_output_available(bool available) {
  watermarks_.set_running(available, context_.time.now_us());
}

result<drain_result> source_operator::drain(operator_output& out, const drain_budget& /*budget*/) {
  idle_due_ = false;
  if (!queue_.empty()) {
    auto piece = std::move(queue_.front());
    queue_.pop_front();
    queue_bytes_ -= bytes_of(piece);
    fetch();
    if (gives_left_out_)
      out.emit_side(0, std::move(piece.left_out));
    HEADRACE_CHECK(emit_rows(piece, out));
    if (piece.split_finished) {
      splits_.erase(piece.split_id);
      watermarks_.remove(piece.split_id, context_.time.now_us());
    } else if (!piece.state_after.empty()) {
      splits_[piece.split_id] = std::move(piece.state_after);
    }
  }
  settle(out);
  return drain_result::done;
}

status source_operator::emit_rows(graph::fetched& piece, operator_output& out) {
  if (piece.rows.is_empty())
    return {};
  const auto now_us = context_.time.now_us();
  auto stamped = stamper_.stamp(piece.rows);
  if (!stamped)
    return error(stamped.error().code, "input cannot be used: " + piece.split_id,
                 std::move(stamped).error());
  const auto rows = std::move(*stamped);
  watermarks_.pass(
      piece.split_id, rows, now_us, [&](graph::record_batch part) { out.emit(std::move(part)); },
      [&] { settle(out); });
  return {};
}

void source_operator::settle(operator_output& out) {
  const auto change = watermarks_.settle(context_.time.now_us());
  if (change.status && !change.status->idle)
    out.emit(*change.status);
  if (change.advanced)
    out.emit(*change.advanced);
  if (change.status && change.status->idle)
    out.emit(*change.status);
}

std::optional<std::int64_t> source_operator::next_processing_time_ms() {
  if (!watermarks_.is_enabled())
    return std::nullopt;
  const auto in_us = watermarks_.due_in_us(context_.time.now_us());
  if (!in_us)
    return std::nullopt;
  return context_.time.wall_ms() + (*in_us + 999) / 1000;
}

status source_operator::on_processing_time(std::int64_t /*now_ms*/) {
  idle_due_ = true;
  return {};
}

void source_operator::snapshot(checkpoint_id /*checkpoint*/, std::function<void(status)> done) {
  std::vector<byte_string> elements;
  elements.reserve(splits_.size());
  for (const auto& [id, state] : splits_)
    elements.push_back(encode_split(id, state));
  stored_->replace(std::move(elements));
  done({});
}

void source_operator::close() {
  context_.services.run_blocking(
      [cell = reader_] {
        if (cell->closed.exchange(true))
          return;
        const std::lock_guard guard(cell->one_at_a_time);
        if (cell->reader != nullptr)
          cell->reader->close();
      },
      [] {});
}

result<std::unique_ptr<stream_operator>> make_source_operator(const graph::operator_node& node,
                                                              const operator_context& context) {
  const auto& spec = std::get<graph::source_spec>(node.spec);
  std::unique_ptr<graph::source> source;
  if (spec.connector.provider.is_none()) {
    HEADRACE_TRY(source, graph::make_source(context.connectors, spec, node.output_type));
  } else {
    HEADRACE_TRY(source, make_function<graph::source>(context, spec.connector.provider));
  }
  std::unique_ptr<graph::timestamp_assigner> assigner;
  if (!spec.watermarks.assigner.is_none()) {
    HEADRACE_TRY(assigner,
                 make_function<graph::timestamp_assigner>(context, spec.watermarks.assigner));
  }
  HEADRACE_TRY(auto generators, make_generator_factory(spec.watermarks, context));
  return std::unique_ptr<stream_operator>(std::make_unique<source_operator>(
      node, context, std::move(source), std::move(assigner), std::move(generators)));
}

} // namespace headrace::task
