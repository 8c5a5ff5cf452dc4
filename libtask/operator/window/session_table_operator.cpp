#include "libtask/operator/window/session_table_operator.hpp"

#include "libtask/operator/window/late_rows.hpp"
#include "libtask/operator/window/session_windows.hpp"
#include "libgraph/data/batch_builder.hpp"
#include "libgraph/data/decode_rows.hpp"
#include "libgraph/data/key_codec.hpp"

#include <cstring>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace headrace::task {
namespace {

/// Keys whose sessions are ended at once.
constexpr std::size_t keys_a_time = 64;

/// What a session has beside its bounds.
struct session_rows {
  std::int64_t number = 0; ///< where the rows lie: the session's first start
  std::int64_t count = 0;
};

session_rows rows_at(const std::byte* payload) {
  session_rows out;
  std::memcpy(&out, payload, sizeof(out));
  return out;
}
void set_rows(std::byte* payload, session_rows rows) { std::memcpy(payload, &rows, sizeof(rows)); }

class session_table_operator final : public stream_operator, private session_windows::user {
public:
  session_table_operator(const graph::operator_node& node, const operator_context& context,
                         window_time time)
      : spec_(std::get<graph::window_table_spec>(node.spec)), type_(node.input_types.front()),
        schema_(node.input_types.front(), spec_.key_columns),
        keys_(schema_, static_cast<std::int32_t>(context.max_parallelism)),
        windows_(spec_.window, spec_.time_column, std::move(time), sizeof(session_rows), context),
        all_columns_(node.input_types.front().child_count()),
        out_(std::make_shared<const graph::logical_type>(node.output_type), context.memory),
        is_zoned_(node.output_type.child(node.output_type.child_count() - 1).root() ==
                  graph::type_root::timestamp_ltz),
        gives_late_(!node.side_types.empty()) {
    std::iota(all_columns_.begin(), all_columns_.end(), 0);
    if (gives_late_)
      windows_.keep_late();
  }

  std::optional<state::key_schema> key_schema() const override { return schema_; }

  status open(const operator_states& states) override {
    state::state_description wanted;
    wanted.name = "rows";
    wanted.value_type = state::bytes_of(type_.fields());
    wanted.layout = state::value_layout::variable();
    HEADRACE_TRY(table_, states.keyed->open_table(wanted));
    return windows_.open(*states.keyed, {{"number", graph::logical_type::bigint(), {}},
                                         {"count", graph::logical_type::bigint(), {}}});
  }

  status add(std::int32_t /*input*/, const graph::record_batch& rows) override {
    keys_.assign(rows, spec_.key_columns);
    graph::encode_keys(rows, all_columns_, encoded_);
    HEADRACE_CHECK(windows_.add(rows, keys_, *this));
    if (gives_late_)
      late_.add_all(windows_.late());
    late_.take_from(rows);
    return store_taken();
  }

  status advance(graph::watermark mark) override {
    if (!spec_.window.is_processing_time)
      come_to(mark.time_ms);
    return {};
  }
  std::optional<std::int64_t> next_processing_time_ms() override {
    return windows_.next_processing_time_ms();
  }
  status on_processing_time(std::int64_t now_ms) override {
    if (spec_.window.is_processing_time)
      come_to(now_ms - 1);
    return {};
  }

  result<drain_result> drain(operator_output& out, const drain_budget& budget) override {
    late_.give(out);
    if (next_ == over_.size() && is_due_) {
      over_.clear();
      next_ = 0;
      HEADRACE_TRY(const bool is_done, windows_.fire(keys_a_time, *this));
      is_due_ = !is_done;
    }
    HEADRACE_CHECK(emit_some(out, budget));
    return next_ < over_.size() || is_due_ ? drain_result::more : drain_result::done;
  }

private:
  /// The rows of a session that is over, and how far they were given.
  struct over_session {
    std::int64_t start_ms = 0;
    std::int64_t end_ms = 0;
    byte_string rows;
    std::size_t at = 0;
  };

  void come_to(std::int64_t time_ms) {
    windows_.set_time(time_ms);
    is_due_ = true;
  }

  status take(session_list& sessions, std::size_t session, std::size_t index) override {
    auto rows = rows_at(sessions.payload(session));
    if (rows.count == 0)
      rows.number = sessions.start_ms(session);
    ++rows.count;
    set_rows(sessions.payload(session), rows);
    taken_.push_back(windows_.places()[index]);
    taken_rows_.push_back(windows_.rows()[index]);
    taken_spaces_.push_back(rows.number);
    return {};
  }

  /// Rows lie where those of the earlier session do.
  status merge(session_list& sessions, std::size_t into, std::size_t from,
               std::size_t index) override {
    HEADRACE_CHECK(store_taken());
    auto kept = rows_at(sessions.payload(into));
    const auto gone = rows_at(sessions.payload(from));
    const std::uint32_t row[] = {windows_.rows()[index]};
    HEADRACE_CHECK(table_->locate(keys_, row, gone.number, state::access::update, found_));
    moved_.assign(table_->get(found_, 0).value_or(byte_view()));
    const std::uint32_t first[] = {0};
    HEADRACE_CHECK(table_->erase(found_, first));
    HEADRACE_CHECK(table_->write_back(found_));
    HEADRACE_CHECK(table_->locate(keys_, row, kept.number, state::access::insert, found_));
    HEADRACE_CHECK(table_->append(found_, 0, moved_));
    HEADRACE_CHECK(table_->write_back(found_));
    kept.count += gone.count;
    set_rows(sessions.payload(into), kept);
    return {};
  }

  status store_taken() {
    if (taken_.empty())
      return {};
    HEADRACE_CHECK(
        table_->locate(keys_, taken_rows_, taken_spaces_, state::access::insert, found_));
    for (std::size_t i = 0; i < taken_.size(); ++i) {
      one_.clear();
      byte_writer(one_).put_bytes(encoded_[taken_[i]]);
      HEADRACE_CHECK(table_->append(found_, i, one_));
    }
    HEADRACE_CHECK(table_->write_back(found_));
    taken_.clear();
    taken_rows_.clear();
    taken_spaces_.clear();
    return {};
  }

  status fire(session_list& sessions, std::size_t session, std::size_t row) override {
    const auto rows = rows_at(sessions.payload(session));
    const std::uint32_t at[] = {static_cast<std::uint32_t>(row)};
    HEADRACE_CHECK(
        table_->locate(windows_.due().keys, at, rows.number, state::access::update, found_));
    over_.push_back({sessions.start_ms(session), sessions.end_ms(session),
                     byte_string(table_->get(found_, 0).value_or(byte_view())), 0});
    const std::uint32_t first[] = {0};
    HEADRACE_CHECK(table_->erase(found_, first));
    return table_->write_back(found_);
  }

  status emit_some(operator_output& out, const drain_budget& budget) {
    const auto width = all_columns_.size();
    std::vector<byte_view> rows;
    while (next_ < over_.size() && rows.size() < budget.rows_max) {
      auto& session = over_[next_];
      byte_reader in(byte_view(session.rows).substr(session.at));
      const auto last = windows_.time().instant_ms(session.end_ms) - 1;
      while (!in.at_end() && rows.size() < budget.rows_max) {
        HEADRACE_TRY(const auto row, in.get_bytes());
        rows.push_back(row);
        out_.column(width).append(session.start_ms);
        out_.column(width + 1).append(session.end_ms);
        out_.column(width + 2).append(is_zoned_ ? last : session.end_ms - 1);
        out_.end_row(last);
      }
      session.at = session.rows.size() - in.remaining();
      if (in.at_end())
        ++next_;
    }
    if (rows.empty())
      return {};
    HEADRACE_CHECK(graph::decode_rows(rows, width, out_));
    out.emit(out_.finish());
    return {};
  }

  graph::window_table_spec spec_;
  graph::logical_type type_; ///< of the rows that are kept
  state::key_schema schema_;
  state::key_batch keys_;
  session_windows windows_;
  std::vector<int> all_columns_;
  graph::batch_builder out_;
  bool is_zoned_;   ///< window_time is an instant
  bool gives_late_; ///< as side output 0
  late_rows late_;
  state::keyed_table* table_ = nullptr;
  bool is_due_ = false;
  std::vector<over_session> over_;
  std::size_t next_ = 0;
  graph::encoded_keys encoded_;
  state::located_rows found_;
  std::vector<std::size_t> taken_; ///< of the encoded rows: those that are not stored yet
  std::vector<std::uint32_t> taken_rows_;
  std::vector<state::state_namespace> taken_spaces_;
  byte_string moved_;
  byte_string one_;
};

} // namespace

result<std::unique_ptr<stream_operator>>
make_session_table_operator(const graph::operator_node& node, const operator_context& context) {
  const auto& spec = std::get<graph::window_table_spec>(node.spec);
  HEADRACE_TRY(auto time, window_time::of(spec.window.time_zone));
  return std::unique_ptr<stream_operator>(
      std::make_unique<session_table_operator>(node, context, std::move(time)));
}

} // namespace headrace::task
