#include "libactors/rpc/actor_ref.hpp"

#include "libactors/rpc/actor_target.hpp"
#include "libactors/rpc/caf_types.hpp"
#include "libactors/rpc/node_core.hpp"

#include <caf/mailbox_element.hpp>

namespace headrace::actors {
namespace {

caf::message_id id_for(mail_priority priority) {
  return priority == mail_priority::high ? caf::make_message_id(caf::message_priority::high)
                                         : caf::make_message_id();
}

} // namespace

received_envelope::~received_envelope() {
  if (through_ && what_.kind == envelope_kind::ask) {
    through_->refuse(what_,
                     {errc::peer_lost, "endpoint ended before it answered: " + what_.to.endpoint});
  }
}

void actor_ref::target::post_mail(mail_ptr content, mail_priority priority) const {
  if (const auto receiver = actor.lock()) {
    // No execution unit: under the sharing policy all of them lead to the one queue.
    receiver->enqueue(
        caf::make_mailbox_element(nullptr, id_for(priority), {}, handed_mail(std::move(content))),
        nullptr);
  }
}

void actor_ref::target::post(endpoint::delivery what, mail_priority priority) const {
  if (const auto receiver = actor.lock()) {
    receiver->enqueue(
        caf::make_mailbox_element(nullptr, id_for(priority), {}, handed_delivery(std::move(what))),
        nullptr);
  }
}

void actor_ref::target::kill() const {
  is_killed = true;
  post({kill_order{}});
}

void actor_ref::send(mail_ptr content, mail_priority priority) const {
  if (target_) {
    target_->post_mail(std::move(content), priority);
  }
}

} // namespace headrace::actors
