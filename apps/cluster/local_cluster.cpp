#include "apps/cluster/cluster_access.hpp"
#include "apps/cluster/mini_cluster.hpp"
#include "apps/cluster/process_settings.hpp"
#include "apps/cluster/working_directory.hpp"
#include "libactors/base/log.hpp"
#include "libactors/transport/address_book.hpp"
#include "schema/registration.capnp.h"

#include <chrono>
#include <cstdio>
#include <thread>
#include <unistd.h>

namespace headrace::cluster {
namespace {

constexpr std::chrono::milliseconds ask_timeout{10'000};

std::int32_t slots_of_each(const configuration& settings) {
  if (settings.is_set("taskmanager.numberOfTaskSlots"))
    return static_cast<std::int32_t>(settings.get_int("taskmanager.numberOfTaskSlots"));
  return static_cast<std::int32_t>(std::max(1U, std::thread::hardware_concurrency()));
}

class local_cluster final : public cluster_access {
public:
  local_cluster(file_system& files, api::object_loader& loader, const configuration& settings)
      : directory_(files, temporary_base(settings), "run"),
        state_directory_(make_state_directory(files, settings)),
        local_state_directory_(files, local_state_base(settings), "local_state"),
        slots_(slots_of_each(settings)), rest_host_(settings.get_text("rest.bind-address")) {
    actors::node_options options;
    options.name = "local";
    options.log =
        logger::to("", settings.is_set("log.level") ? log_level_of(settings) : log_level::warn);
    options.on_fatal = [](const error& cause) {
      std::fprintf(stderr, "headrace: fatal: %s\n", to_string(cause).c_str());
      _exit(1);
    };
    mini_cluster_options parts;
    parts.settings = settings;
    parts.slots = slots_;
    parts.directory = directory_.path();
    if (state_directory_ != nullptr)
      parts.state_directory = state_directory_->path();
    parts.local_state_directory = local_state_directory_.path();
    node_ = actors::make_node(std::move(options));
    const auto& around = node_->environment();
    for (const auto* each : std::initializer_list<const working_directory*>{
             &directory_, state_directory_.get(), &local_state_directory_})
      if (each != nullptr)
        each->remove_abandoned(around.blocking, around.log);
    cluster_ = std::make_unique<mini_cluster>(*node_, files, loader, std::move(parts));
  }
  ~local_cluster() override { node_->shut_down(); }
  local_cluster(const local_cluster&) = delete;
  local_cluster& operator=(const local_cluster&) = delete;

  status start() {
    HEADRACE_CHECK(cluster_->start());
    addresses_ = cluster_->addresses();
    if (cluster_->rest_port() != 0)
      std::fprintf(
          stderr, "REST interface: http://%s\n",
          to_string(actors::host_port{actors::without_brackets(rest_host_), cluster_->rest_port()})
              .c_str());
    return {};
  }

  actors::node& node() override { return *node_; }
  const scheduler::cluster_addresses& addresses() const override { return addresses_; }

  bool is_away(const error& /*failure*/) const override { return false; }
  status find_again() override { return {}; }
  result<std::optional<std::string>> actors_page() override { return std::optional<std::string>(); }

  void provide_slots(std::int32_t needed) override {
    const auto list = node_->ask_and_wait<schema::TaskExecutorList>(
        addresses_.resource_manager, message_builder<schema::ListTaskExecutors>().finish(),
        ask_timeout);
    std::int32_t free = 0;
    if (list) {
      const auto view = list->view();
      for (const auto executor : view->getExecutors())
        for (const auto slot : executor.getSlots().getSlots())
          free += slot.getJob().getHigh() == 0 && slot.getJob().getLow() == 0 ? 1 : 0;
    }
    for (; free < needed; free += slots_)
      cluster_->start_task_executor();
  }

private:
  working_directory directory_; // outlives the node
  std::unique_ptr<working_directory> state_directory_;
  working_directory local_state_directory_;
  std::int32_t slots_;
  std::string rest_host_;
  std::unique_ptr<actors::node> node_;
  std::unique_ptr<mini_cluster> cluster_;
  scheduler::cluster_addresses addresses_;
};

} // namespace

result<std::unique_ptr<cluster_access>>
start_local_cluster(file_system& files, api::object_loader& loader, const configuration& settings) {
  auto made = std::make_unique<local_cluster>(files, loader, settings);
  HEADRACE_CHECK(made->start());
  return std::unique_ptr<cluster_access>(std::move(made));
}

} // namespace headrace::cluster
