#include "libactors/rpc/endpoint_actor.hpp"

#include "libactors/rpc/caf_types.hpp"

#include <typeinfo>

namespace headrace::actors {
namespace {

// What `target::post` and `post_mail` enqueue. To compare the element's own type is cheaper than to
// have CAF match its content.
using mail_element = caf::mailbox_element_vals<handed_mail>;
using delivery_element = caf::mailbox_element_vals<handed_delivery>;

actor_environment environment_of(const node_core& core, const std::string& name) {
  return {.time = core.environment.time,
          .blocking = core.environment.blocking,
          .random = core.environment.random,
          .log = core.environment.log.with({{"endpoint", name}}),
          .node = core.environment.node};
}

std::shared_ptr<actor_record> record_of(node_core& core, const actor_setup& setup,
                                        std::uint64_t id) {
  actor_snapshot fixed;
  fixed.id = id;
  fixed.name = setup.full_name;
  fixed.kind = setup.options.kind;
  fixed.parent = setup.parent.is_none() ? "" : setup.parent.get()->self.endpoint;
  fixed.node = to_string(core.id);
  fixed.instance = setup.instance;
  fixed.is_detached = core.seams.detaches && setup.options.where == placement::control;
  return core.registry.add(std::move(fixed));
}

} // namespace

struct endpoint_actor::actor_host final : endpoint::host {
  actor_host(endpoint_actor& carrier_in, const actor_setup& setup,
             std::shared_ptr<actor_record> record_in)
      : host(setup.core, environment_of(*setup.core, setup.full_name), std::move(record_in)),
        carrier(carrier_in) {}

  void end(error cause) override {
    has_ended = true;
    ended_by = std::move(cause);
    carrier.quit();
  }

  endpoint_actor& carrier;
  bool has_ended = false;
  error ended_by;
};

endpoint_actor::endpoint_actor(caf::actor_config& config, actor_setup* setup)
    : caf::event_based_actor(config), record_(record_of(*setup->core, *setup, setup->instance)),
      content_(std::move(setup->content)), parent_(setup->parent), alive_(ctrl()),
      time_(setup->core->environment.time), detached_(record_->snapshot(0).is_detached) {
  host_ = std::make_unique<actor_host>(*this, *setup, record_);
  host_->is_root = setup->parent.is_none();
  host_->target = setup->core->enroll(*setup, caf::weak_actor_ptr(ctrl()));
  host_->self = host_->target->self;
  content_->attach(*host_);
}

endpoint_actor::~endpoint_actor() = default;

void endpoint_actor::enqueue(caf::mailbox_element_ptr what, caf::execution_unit* on) {
  record_->on_enqueued();
  caf::event_based_actor::enqueue(std::move(what), on);
}

caf::behavior endpoint_actor::make_behavior() {
  set_exit_handler([](caf::scheduled_actor* self, caf::exit_msg& order) {
    self->quit(std::move(order.reason)); // CAF's own end of all; ours is a stop_order
  });
  content_->start();
  if (host_->has_ended) {
    return {};
  }
  // Never called (see `consume`), but an actor without a behavior would be a dead one.
  return {[](const handed_delivery&) {}};
}

caf::resumable::resume_result endpoint_actor::resume(caf::execution_unit* on,
                                                     std::size_t throughput_max) {
  if (detached_) { // runs until its mailbox is empty, so each message is timed alone
    return caf::event_based_actor::resume(on, throughput_max);
  }
  const auto record = record_;
  const auto& time = time_;
  const auto began_us = time.now_us();
  record->begin_turn(began_us);
  const auto outcome = caf::event_based_actor::resume(on, throughput_max);
  record->end_turn(began_us, time.now_us()); // another thread may already run this actor again
  return outcome;
}

caf::invoke_message_result endpoint_actor::consume(caf::mailbox_element& what) {
  if (typeid(what) != typeid(mail_element) && typeid(what) != typeid(delivery_element)) {
    return caf::event_based_actor::consume(what);
  }
  if (!detached_) {
    hand_over(what);
  } else {
    const auto began_us = time_.now_us();
    record_->begin_turn(began_us);
    hand_over(what);
    record_->end_turn(began_us, time_.now_us());
  }
  return caf::invoke_message_result::consumed;
}

void endpoint_actor::hand_over(caf::mailbox_element& what) {
  record_->on_taken();
  if (host_->has_ended) {
    return;
  }
  if (host_->target->is_killed.load(std::memory_order_relaxed)) {
    content_->deliver({kill_order{}});
    return;
  }
  if (typeid(what) == typeid(mail_element)) {
    auto mail = std::get<0>(static_cast<mail_element&>(what).data()).take();
    record_->on_mail(mail->kind());
    content_->deliver({std::move(mail)});
  } else {
    auto delivery = std::get<0>(static_cast<delivery_element&>(what).data()).take();
    content_->deliver(std::move(*delivery));
  }
}

void endpoint_actor::on_exit() {
  const auto core = host_->core;
  const auto target = host_->target;
  target->has_ended = true;
  if (host_->ended_by.code != errc::none) {
    record_->set_last_error(host_->ended_by);
  }
  content_.reset(); // asks that it kept are answered now
  core->retire(*host_, parent_, host_->ended_by);
  host_->target.reset();
  parent_ = {};
  alive_.reset(); // who runs this turn holds it still
}

} // namespace headrace::actors
