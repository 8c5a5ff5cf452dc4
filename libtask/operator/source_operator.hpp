#pragma once

#include "libtask/operator/event_time.hpp"
#include "libtask/operator/stream_operator.hpp"
#include "libgraph/connector/source.hpp"

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace headrace::task {

/// Reads the splits of one source reader. Fetches run on the executor, one at a time; what they
/// give waits in a bounded queue until the task can pass it on. A split's state moves with the rows
/// that are emitted, so a snapshot holds exactly how far the rows before the barrier came.
///
///     coordinator ─ splits ─▶ reader ─ fetch (executor) ─▶ queue ─ drain ─▶ rows, watermarks
///                 ◀ request ─ when it has no split left
///
/// Malformed records that the reader tells of leave by side output 0, when the graph has one, with
/// the rows around them: a snapshot holds both or none.
///
/// Lives on the subtask's mailbox; see stream_operator.
class source_operator final : public stream_operator {
public:
  source_operator(const graph::operator_node& node, const operator_context& context,
                  std::unique_ptr<graph::source> source,
                  std::unique_ptr<graph::timestamp_assigner> assigner,
                  generator_factory generators);
  ~source_operator() override;

  status open(const operator_states& states) override;
  status add(std::int32_t input, const graph::record_batch& rows) override;
  status on_event(byte_view event) override;
  source_readiness readiness() const override;
  void set_output_available(bool available) override;
  void set_rows_max(std::size_t rows) override { rows_max_ = rows; }
  bool forwards_watermarks() const override { return false; }
  bool begins_event_time() const override { return true; }
  result<drain_result> drain(operator_output& out, const drain_budget& budget) override;
  std::optional<std::int64_t> next_processing_time_ms() override;
  status on_processing_time(std::int64_t now_ms) override;
  void snapshot(checkpoint_id checkpoint, std::function<void(status)> done) override;
  void close() override;

private:
  struct reader_cell;
  struct fetch_outcome;
  void assign(std::vector<graph::source_split> splits);
  void fetch();
  static void fetch_pieces(graph::split_reader& reader, const headrace::clock& time,
                           const graph::fetch_budget& budget, std::size_t room_bytes,
                           fetch_outcome& into);
  status take(fetch_outcome outcome);
  void request_split();
  status emit_rows(graph::fetched& piece, operator_output& out);
  void settle(operator_output& out);

  operator_id id_;
  std::string name_;
  operator_context context_;
  bool gives_left_out_; ///< malformed records, as side output 0
  std::unique_ptr<graph::source> source_;
  event_time_stamper stamper_;
  split_watermarks watermarks_;
  std::shared_ptr<reader_cell> reader_; ///< shared with the step that runs
  state::operator_list_state* stored_ = nullptr;
  std::map<std::string, byte_string> splits_; ///< not finished: state behind the emitted rows
  std::vector<graph::source_split> to_add_;   ///< given to the reader by the next fetch
  std::deque<graph::fetched> queue_;
  std::size_t queue_bytes_ = 0;
  std::size_t rows_max_ = graph::fetch_budget{}.rows_max;
  std::size_t reading_ = 0; ///< splits that the reader has not finished
  bool fetching_ = false;
  bool waiting_ = false; ///< until a delay has passed
  bool no_more_ = false;
  bool requested_ = false;
  bool idle_due_ = false;
};

result<std::unique_ptr<stream_operator>> make_source_operator(const graph::operator_node&,
                                                              const operator_context&);

} // namespace headrace::task
