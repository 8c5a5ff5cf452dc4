#include "apps/shell/shell_command.hpp"

#include "apps/client/collected_rows.hpp"
#include "apps/client/http_get.hpp"
#include "apps/client/remote_cluster.hpp"
#include "apps/cluster/cluster_access.hpp"
#include "apps/cluster/mini_cluster.hpp"
#include "apps/shell/line_editor.hpp"
#include "apps/shell/lua_script.hpp"
#include "apps/shell/shell_commands.hpp"
#include "libactors/supervision/introspection_endpoint.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace headrace::shell {
namespace {

constexpr std::uint64_t script_bytes_max = std::uint64_t{16} << 20U;

constexpr std::chrono::milliseconds page_timeout{10'000};

enum exit_code : int { well = 0, failed = 1, bad_usage = 2, interrupted = 3 };

std::atomic<shell_session*> running_session{nullptr};

extern "C" void interrupt_shell(int number) {
  auto* session = running_session.load();
  if (session == nullptr || session->is_interrupted())
    _exit(128 + number);
  session->interrupt();
}

/// Signals interrupt the session while this lives; a second one ends the process.
class signal_guard {
public:
  explicit signal_guard(shell_session& session) {
    running_session.store(&session);
    std::signal(SIGINT, interrupt_shell);
    std::signal(SIGTERM, interrupt_shell);
  }
  ~signal_guard() {
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
    running_session.store(nullptr);
  }
  signal_guard(const signal_guard&) = delete;
  signal_guard& operator=(const signal_guard&) = delete;
};

/// A cluster of other processes, which answers for its slots itself.
class remote_access final : public cluster::cluster_access {
public:
  remote_access(std::unique_ptr<client::remote_cluster> inner, actors::host_port rest)
      : inner_(std::move(inner)), rest_(std::move(rest)) {}
  actors::node& node() override { return inner_->node(); }
  const scheduler::cluster_addresses& addresses() const override { return inner_->addresses(); }
  bool is_away(const error& failure) const override {
    return client::remote_cluster::is_away(failure);
  }
  status find_again() override { return inner_->find_again(); }
  result<std::optional<std::string>> actors_page() override {
    HEADRACE_TRY(auto page, client::http_get(rest_, "/debug/actors", page_timeout));
    return std::optional(std::move(page));
  }
  void provide_slots(std::int32_t /*needed*/) override {}

private:
  std::unique_ptr<client::remote_cluster> inner_;
  actors::host_port rest_;
};

/// @param options  get the cluster's settings for jobs behind their own
result<std::unique_ptr<cluster::cluster_access>> reach(shell_options& options, file_system& files,
                                                       api::object_loader& loader) {
  if (options.target.empty())
    return cluster::start_local_cluster(files, loader, options.settings);
  HEADRACE_TRY(const auto where, client::parse_target(options.target));
  HEADRACE_TRY(options.settings, client::with_settings_of(where, std::move(options.settings)));
  HEADRACE_TRY(auto found, client::remote_cluster::connect(options.settings, files, where));
  actors::spawn_introspection(found->node());
  return std::unique_ptr<cluster::cluster_access>(
      std::make_unique<remote_access>(std::move(found), where));
}

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void complain(const error& failure) {
  std::fprintf(stderr, "headrace: %s\n", to_string(failure).c_str());
}

int code_of(const error& failure, const shell_session& session) {
  if (session.is_interrupted())
    return interrupted;
  return failure.has(errc::bad_usage) || failure.has(errc::unknown_option) ||
                 failure.has(errc::bad_option_value)
             ? bad_usage
             : failed;
}

std::string history_path() {
  const char* home = std::getenv("HOME");
  return home == nullptr ? std::string() : std::string(home) + "/.headrace_history";
}

int run_terminal(shell_commands& commands, shell_session& session) {
  line_editor editor(history_path(),
                     [&](std::string_view before) { return commands.complete(before); });
  while (!commands.is_over()) {
    std::signal(SIGINT, SIG_IGN); // the editor takes it as a key
    const auto line = editor.read("headrace> ");
    if (!line)
      break;
    auto text = *line;
    while (is_sql(text) && end_of_sql(text) == std::string_view::npos) {
      const auto more = editor.read("       -> ");
      if (!more)
        break;
      text += '\n' + *more;
    }
    const signal_guard guard(session);
    if (const auto done = commands.run_all(text); !done)
      complain(done.error());
    session.clear_interrupt();
  }
  return well;
}

int run_with(shell_session& session, const shell_options& options, const std::string& script) {
  shell_commands commands(session, options.settings, print);
  const bool is_typed = options.script.empty() && options.text.empty();
  if (is_typed && isatty(STDIN_FILENO) != 0)
    return run_terminal(commands, session);

  const signal_guard guard(session);
  auto done = status();
  if (options.script.ends_with(".lua"))
    done = run_lua(session, script, {options.script, options.arguments, options.settings, print});
  else if (!options.script.empty())
    done = commands.run_all(script);
  else if (!options.text.empty())
    done = commands.run_all(options.text);
  else {
    std::string piped;
    char buffer[4096];
    for (std::size_t size = 0; (size = std::fread(&buffer[0], 1, sizeof(buffer), stdin)) > 0;)
      piped.append(&buffer[0], size);
    done = commands.run_all(piped);
  }
  if (done)
    return well;
  complain(done.error());
  return code_of(done.error(), session);
}

} // namespace

int run_shell(const shell_options& given) {
  auto options = given;
  const auto files = make_local_file_system();
  std::string script;
  if (!options.script.empty()) {
    auto read = files->read_all(options.script, script_bytes_max);
    if (!read) {
      complain(read.error());
      return bad_usage;
    }
    script = std::move(*read);
  }
  graph::connector_registry connectors;
  cluster::register_all_connectors(connectors, {});
  api::object_loader loader(*files, &connectors);
  const auto started = reach(options, *files, loader);
  if (!started) {
    complain(started.error());
    return started.error().code == errc::bad_usage ? bad_usage : failed;
  }
  shell_session session(**started, *files, loader,
                        {client::print_to_standard_output, [](const std::string& words) {
                           std::fprintf(stderr, "headrace: %s\n", words.c_str());
                         }});
  return run_with(session, options, script);
}

} // namespace headrace::shell
