#include "libscheduler/source/source_coordinator_endpoint.hpp"

#include "libscheduler/source/enumerator_state.hpp"
#include "libactors/base/assert.hpp"
#include "libactors/message/ids_codec.hpp"
#include "schema/task.capnp.h"

#include <exception>
#include <utility>

namespace headrace::scheduler {

/// Notes what the enumerator asks for while one of its methods runs.
class source_coordinator_endpoint::context final : public graph::enumerator_context {
public:
  explicit context(source_coordinator_endpoint& owner)
      : owner_(owner), log_(owner.log().with({{"source", owner.node().name}})) {}

  std::int32_t reader_count() const override {
    return owner_.options_.job->vertices[static_cast<std::size_t>(owner_.options_.vertex)]
        .parallelism;
  }
  std::vector<std::int32_t> registered_readers() const override {
    return {owner_.outbox_.registered().begin(), owner_.outbox_.registered().end()};
  }
  void assign(std::int32_t reader, std::vector<graph::source_split> splits) override {
    wishes_.emplace_back([this, reader, splits = std::move(splits)]() mutable {
      owner_.assign(reader, std::move(splits));
    });
  }
  void no_more_splits(std::int32_t reader) override {
    wishes_.emplace_back([this, reader] {
      message_builder<schema::SourceEvent> event;
      event->initNoMoreSplits();
      owner_.send(reader, event.finish());
    });
  }
  void call_async(discovery step, discovered handle, std::chrono::milliseconds period) override {
    wishes_.emplace_back([this, step = std::move(step), handle = std::move(handle), period] {
      owner_.discover(step, handle, period);
    });
  }
  file_system& files() override { return *owner_.options_.files; }
  const headrace::clock& time() const override { return owner_.environment().time; }
  const logger& log() const override { return log_; }

  void carry_out() {
    for (auto& wish : std::exchange(wishes_, {}))
      wish();
  }

private:
  source_coordinator_endpoint& owner_;
  logger log_;
  std::vector<std::function<void()>> wishes_;
};

source_coordinator_endpoint::source_coordinator_endpoint(source_coordinator_options options,
                                                         actors::actor_ref job_master)
    : options_(std::move(options)), job_master_(std::move(job_master)) {}

source_coordinator_endpoint::~source_coordinator_endpoint() = default;

const graph::operator_node& source_coordinator_endpoint::node() const {
  return options_.job->vertices[static_cast<std::size_t>(options_.vertex)].operators[0];
}

const graph::connector_spec& source_coordinator_endpoint::connector() const {
  return std::get<graph::source_spec>(node().spec).connector;
}

void source_coordinator_endpoint::on_mail(actors::mail_ptr content) {
  actors::mail& received = *content;
  open_mail<coordinator_reset>(received,
                               [this](coordinator_reset what) { reset(std::move(what)); });
  open_mail<readers_reset>(received, [this](const readers_reset& what) { reset_readers(what); });
  open_mail<reader_said>(received, [this](reader_said what) {
    if (enumerator_ == nullptr)
      early_.push_back(std::move(what));
    else
      hear(what);
  });
  open_mail<coordinator_snapshot_wanted>(
      received, [this](const coordinator_snapshot_wanted& what) { snapshot(what); });
  open_mail<coordinator_resumed>(
      received, [this](const coordinator_resumed& what) { resume(what.checkpoint); });
  open_mail<coordinator_checkpoint_completed>(received,
                                              [this](const coordinator_checkpoint_completed& what) {
                                                tracker_.on_checkpoint_completed(what.checkpoint);
                                              });
}

void source_coordinator_endpoint::on_stop(const error& /*cause*/) { close_enumerator(); }

void source_coordinator_endpoint::reset(coordinator_reset what) {
  close_enumerator();
  readers_.clear();
  tracker_.reset();
  outbox_ = {};
  early_.clear();
  pending_reset_ = std::move(what);
  if (source_)
    start_enumerator();
  else
    load();
}

void source_coordinator_endpoint::load() {
  if (std::exchange(is_loading_, true))
    return;
  run_blocking<std::shared_ptr<result<loaded_source>>>(
      [options = options_, node = node()] {
        return std::make_shared<result<loaded_source>>(load_source(
            node, *options.job, *options.connectors, options.code, options.artifact_directory));
      },
      [this](const std::shared_ptr<result<loaded_source>>& loaded) {
        is_loading_ = false;
        if (!*loaded) {
          fail(loaded->error());
          return;
        }
        source_ = std::move(**loaded);
        start_enumerator();
      });
}

void source_coordinator_endpoint::start_enumerator() {
  if (!pending_reset_)
    return;
  coordinator_reset from = std::move(*pending_reset_);
  pending_reset_.reset();
  context_ = std::make_unique<context>(*this);
  call([&]() -> status {
    if (from.state) {
      HEADRACE_TRY(*from.state, unmark_enumerator_state(connector(), node().name, *from.state));
    }
    HEADRACE_TRY(enumerator_, source_->source->create_enumerator(*context_, std::move(from.state)));
    return enumerator_->start();
  });
  if (enumerator_ == nullptr)
    return;
  log().info("split enumerator started",
             {{"source", node().name}, {"checkpoint", std::to_string(from.checkpoint)}});
  for (auto& said : std::exchange(early_, {}))
    hear(said);
}

void source_coordinator_endpoint::close_enumerator() {
  ++epoch_;
  if (enumerator_ != nullptr) {
    try {
      enumerator_->close();
    } catch (const std::exception& thrown) {
      log().warn("split enumerator did not close", {{"cause", thrown.what()}});
    }
  }
  enumerator_.reset();
  context_.reset();
}

void source_coordinator_endpoint::reset_readers(const readers_reset& what) {
  for (const std::int32_t subtask : what.readers) {
    readers_.erase(subtask);
    std::erase_if(early_, [&](const auto& said) { return said.attempt.subtask == subtask; });
    outbox_.on_reset(subtask);
    auto back = tracker_.take_back(subtask, what.restored);
    if (enumerator_ != nullptr)
      call([&] { return enumerator_->add_splits_back(std::move(back), subtask); });
  }
}

void source_coordinator_endpoint::hear(const reader_said& what) {
  const std::int32_t subtask = what.attempt.subtask;
  auto& from = readers_[subtask];
  if (what.attempt.attempt < from.attempt.attempt)
    return; // an older attempt's last words
  from.attempt = what.attempt;
  from.location = what.location;
  auto handled = checked_read([&]() -> status {
    HEADRACE_TRY(auto event, validate_message(type_id_of<schema::SourceEvent>(), what.event));
    const auto view = message<schema::SourceEvent>(std::move(event)).view();
    switch (view->which()) {
    case schema::SourceEvent::REGISTER:
      for (const auto& held : outbox_.on_registered(subtask))
        deliver(subtask, held);
      call([&] { return enumerator_->add_reader(subtask); });
      return {};
    case schema::SourceEvent::REQUEST_SPLIT:
      call([&] { return enumerator_->handle_split_request(subtask); });
      return {};
    default:
      return error(errc::malformed_message, "not an event of a reader");
    }
  });
  if (!handled)
    fail(handled.error());
}

void source_coordinator_endpoint::snapshot(const coordinator_snapshot_wanted& what) {
  coordinator_snapshot_taken taken{what.checkpoint, node().id, {}, {}};
  if (enumerator_ == nullptr) {
    taken.failure = error(errc::checkpoint_declined, "source has not started: " + node().name);
  } else if (outbox_.awaits_registration()) {
    taken.failure = error(errc::checkpoint_declined,
                          "splits wait for a reader that has not registered yet: " + node().name);
  } else {
    outbox_.close(what.checkpoint);
    tracker_.on_checkpoint(what.checkpoint);
    call([&]() -> status {
      auto encoded = enumerator_->snapshot(what.checkpoint);
      if (encoded)
        taken.state = mark_enumerator_state(connector(), *encoded);
      else
        taken.failure = std::move(encoded).error();
      return {};
    });
  }
  post(what.asker, std::move(taken));
}

void source_coordinator_endpoint::resume(checkpoint_id checkpoint) {
  for (const auto& [subtask, event] : outbox_.open(checkpoint))
    deliver(subtask, event);
}

void source_coordinator_endpoint::call(const std::function<status()>& method) {
  status outcome;
  try {
    outcome = method();
  } catch (const std::exception& thrown) {
    outcome = error(errc::user_function_failed,
                    "split enumerator failed: " + node().name + ": " + thrown.what());
  }
  if (!outcome) {
    fail(outcome.error());
    return;
  }
  if (context_ != nullptr)
    context_->carry_out();
}

void source_coordinator_endpoint::assign(std::int32_t subtask,
                                         std::vector<graph::source_split> splits) {
  message_builder<schema::SourceEvent> event;
  auto out = event->initAddSplits().initSplits(static_cast<unsigned>(splits.size()));
  for (std::size_t i = 0; i < splits.size(); ++i) {
    auto split = out[static_cast<unsigned>(i)];
    split.setId(splits[i].id);
    split.setState(
        kj::arrayPtr(reinterpret_cast<const kj::byte*>(splits[i].state.data()), // NOLINT: bytes
                     splits[i].state.size()));
  }
  tracker_.assign(subtask, splits);
  send(subtask, event.finish());
}

void source_coordinator_endpoint::send(std::int32_t subtask,
                                       const message<schema::SourceEvent>& event) {
  if (const auto now = outbox_.send(subtask, event))
    deliver(subtask, *now);
}

void source_coordinator_endpoint::deliver(std::int32_t subtask,
                                          const message<schema::SourceEvent>& event) {
  const auto known = readers_.find(subtask);
  HEADRACE_ASSERT(known != readers_.end(), "events go to registered readers");
  message_builder<schema::OperatorEvent> out;
  write(out->initAttempt(), known->second.attempt);
  write(out->initOperator(), node().id);
  const auto words = event.untyped().words().asBytes();
  out->setEvent(words);
  tell(known->second.location, out.finish());
}

void source_coordinator_endpoint::discover(discovery step, discovered handle,
                                           std::chrono::milliseconds period) {
  run_blocking<std::shared_ptr<result<std::vector<graph::source_split>>>>(
      [step]() {
        using found = result<std::vector<graph::source_split>>;
        try {
          return std::make_shared<found>(step());
        } catch (const std::exception& thrown) {
          return std::make_shared<found>(error(
              errc::user_function_failed, std::string("split discovery failed: ") + thrown.what()));
        }
      },
      [this, step, handle, period,
       epoch = epoch_](const std::shared_ptr<result<std::vector<graph::source_split>>>& found) {
        if (epoch != epoch_)
          return;
        call([&] { return handle(std::move(*found)); });
        if (period.count() > 0 && epoch == epoch_)
          after(period, [this, step, handle, period, epoch] {
            if (epoch == epoch_)
              discover(step, handle, period);
          });
      });
}

void source_coordinator_endpoint::fail(const error& cause) {
  close_enumerator();
  log().error("split enumerator failed", {{"source", node().name}, {"cause", to_string(cause)}});
  post(job_master_,
       coordinator_failed{node().id, error(cause.code, "source failed: " + node().name, cause)});
}

} // namespace headrace::scheduler
