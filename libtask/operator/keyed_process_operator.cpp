#include "libtask/operator/keyed_process_operator.hpp"

#include "libgraph/function/failure.hpp"

#include <utility>

namespace headrace::task {

namespace {
constexpr std::size_t timers_at_once = 512;
} // namespace

/// What the function may ask while it runs. Failures of state go through the function as
/// exceptions.
class keyed_process_operator::current_row final : public graph::keyed_context {
public:
  explicit current_row(keyed_process_operator& owner) : owner_(owner) {}
  void set_row(std::size_t row) override { set_key(*owner_.keys_, owner_.taken_.row_at(row)); }
  void set_key(const state::key_batch& keys, std::size_t row) {
    keys_ = &keys;
    row_ = row;
    owner_.backend_->set_current_key(keys, row);
  }
  std::int32_t current_key_group() const override {
    const auto groups = keys_->key_groups(); // of the whole batch, once
    if (!groups)
      throw graph::failure(groups.error());
    return (*groups)[row_];
  }
  std::int64_t current_watermark() const override { return owner_.watermark_ms_; }
  std::int64_t current_processing_time() const override { return owner_.context_.time.wall_ms(); }
  void register_event_timer(std::int64_t time_ms) override {
    check(owner_.event_.service->register_timer(owner_.backend_->current_key(), time_ms));
  }
  void register_processing_timer(std::int64_t time_ms) override {
    check(owner_.processing_.service->register_timer(owner_.backend_->current_key(), time_ms));
  }
  void delete_event_timer(std::int64_t time_ms) override {
    check(owner_.event_.service->delete_timer(owner_.backend_->current_key(), time_ms));
  }
  void delete_processing_timer(std::int64_t time_ms) override {
    check(owner_.processing_.service->delete_timer(owner_.backend_->current_key(), time_ms));
  }

private:
  static void check(status done) {
    if (!done)
      throw graph::failure(std::move(done).error());
  }
  keyed_process_operator& owner_;
  const state::key_batch* keys_ = nullptr; ///< the current key is one of them
  std::size_t row_ = 0;
};

keyed_process_operator::keyed_process_operator(
    const graph::operator_node& node, const operator_context& context,
    std::unique_ptr<graph::keyed_process_function> function)
    : context_(context),
      schema_(node.input_types.at(0), std::get<graph::keyed_process_spec>(node.spec).key_columns),
      key_columns_(std::get<graph::keyed_process_spec>(node.spec).key_columns),
      function_(std::move(function)), outputs_(node, context.memory),
      current_(std::make_unique<current_row>(*this)) {}

keyed_process_operator::~keyed_process_operator() = default;

status keyed_process_operator::open(const operator_states& states) {
  backend_ = states.keyed;
  keys_ = std::make_unique<state::key_batch>(schema_, backend_->max_parallelism());
  HEADRACE_TRY(event_.service,
               state::open_timer_service(*backend_, graph::time_domain::event, "event-timers"));
  HEADRACE_TRY(
      processing_.service,
      state::open_timer_service(*backend_, graph::time_domain::processing, "processing-timers"));
  event_.due.emplace(event_.service->make_due());
  processing_.due.emplace(processing_.service->make_due());
  function_->open(context_.for_function(backend_, states.raw));
  return {};
}

status keyed_process_operator::add(std::int32_t /*input*/, const graph::record_batch& rows) {
  taken_ = rows;
  at_ = 0;
  keys_->assign(rows, key_columns_);
  return {};
}

status keyed_process_operator::advance(graph::watermark mark) {
  watermark_ms_ = mark.time_ms;
  event_.fire_until_ms = mark.time_ms;
  return {};
}

std::optional<std::int64_t> keyed_process_operator::next_processing_time_ms() {
  if (processing_.service == nullptr)
    return std::nullopt;
  return processing_.service->next_time_ms();
}

status keyed_process_operator::on_processing_time(std::int64_t now_ms) {
  processing_.fire_until_ms = now_ms;
  return {};
}

result<drain_result> keyed_process_operator::drain(operator_output& out,
                                                   const drain_budget& budget) {
  auto into = outputs_.bounded(budget);
  bool done = true;
  if (at_ < taken_.size()) {
    at_ = function_->process(taken_, at_, *current_, into);
    done = at_ >= taken_.size();
    if (done) {
      taken_ = {};
      at_ = 0;
    }
  }
  if (done) {
    HEADRACE_TRY(done, fire(event_, graph::time_domain::event, into));
  }
  if (done) {
    HEADRACE_TRY(done, fire(processing_, graph::time_domain::processing, into));
  }
  outputs_.flush(out);
  return done ? drain_result::done : drain_result::more;
}

result<bool> keyed_process_operator::fire(timers& from, graph::time_domain domain,
                                          graph::function_output& out) {
  while (from.fire_until_ms) {
    if (from.at >= from.due->size()) {
      from.at = 0;
      HEADRACE_CHECK(from.service->advance(*from.fire_until_ms, timers_at_once, *from.due));
      if (from.due->size() == 0) {
        from.fire_until_ms.reset();
        return true;
      }
      HEADRACE_TRY(from.keys, from.due->keys.to_batch());
    }
    while (from.at < from.due->size()) {
      if (out.is_full())
        return false;
      const auto row = from.at++;
      current_->set_key(from.due->keys, row);
      function_->on_timer(from.due->times_ms[row], domain, from.keys, row, *current_, out);
    }
    if (out.is_full())
      return false;
  }
  return true;
}

result<std::unique_ptr<stream_operator>>
make_keyed_process_operator(const graph::operator_node& node, const operator_context& context) {
  const auto& spec = std::get<graph::keyed_process_spec>(node.spec);
  if (node.input_types.empty() || spec.key_columns.empty())
    return error(errc::invalid_graph, "keyed function without key: " + node.name);
  HEADRACE_TRY(auto function, make_function<graph::keyed_process_function>(context, spec.function));
  return std::unique_ptr<stream_operator>(
      std::make_unique<keyed_process_operator>(node, context, std::move(function)));
}

} // namespace headrace::task
