#include "apps/cluster/rest_service.hpp"

#include "libscheduler/execution_graph/job_mail.hpp"
#include "libtask/mailbox/mail_kind.hpp"

namespace headrace::cluster {

std::string mail_name(std::string_view actor_kind, std::uint32_t mail) {
  if (actor_kind == "subtask" || actor_kind == "task_executor" || actor_kind == "connection")
    return std::string(name_of(static_cast<task::mail_kind>(mail)));
  if (actor_kind == "rest_endpoint")
    return mail == actors::http_mail::kind ? "http_request" : "";
  return std::string(name_of(static_cast<scheduler::job_mail_kind>(mail)));
}

result<scheduler::rest_access> start_rest(actors::node& on, const configuration& settings,
                                          scheduler::cluster_addresses cluster) {
  scheduler::rest_settings wanted;
  wanted.bind_address = settings.get_text("rest.bind-address");
  wanted.port = static_cast<std::uint16_t>(settings.get_int("rest.port"));
  wanted.cluster = std::move(cluster);
  wanted.configuration = settings.values();
  wanted.mail_name = mail_name;
  return scheduler::spawn_rest(on, std::move(wanted));
}

} // namespace headrace::cluster
