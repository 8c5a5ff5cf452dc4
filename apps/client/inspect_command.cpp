#include "apps/client/inspect_command.hpp"

#include "apps/client/job_commands.hpp"
#include "apps/client/savepoint_text.hpp"
#include "libstate/checkpoint/checkpoint_files.hpp"

#include <algorithm>
#include <cstdio>
#include <vector>

namespace headrace::client {
namespace {

result<std::string> describe(const inspect_options& options) {
  const auto files = make_local_file_system();
  HEADRACE_TRY(const auto from, processor::savepoint_reader::open(*files, options.path));
  std::vector<operator_id> wanted;
  if (options.of_operator.empty()) {
    for (const auto& [id, one] : from.content().operators)
      wanted.push_back(id);
  } else {
    HEADRACE_TRY(const auto id, from.find(options.of_operator));
    wanted.push_back(id);
  }
  if (options.state.empty()) {
    HEADRACE_CHECK(state::check_files(*files, from.content()));
    savepoint_summary all{from.content(), {}, {}};
    for (const auto& id : wanted) {
      HEADRACE_TRY(auto one, from.summarize(id));
      all.operators.push_back(std::move(one));
    }
    HEADRACE_TRY(all.hooks, scheduler::decode_hook_states(from.content().master_hooks));
    return options.is_json ? savepoint_as_json(all) : savepoint_as_text(all);
  }
  std::vector<processor::operator_summary> looked_at;
  for (const auto& id : wanted) {
    HEADRACE_TRY(auto one, from.describe(id));
    for (const auto& state : one.states) {
      if (state.name == options.state)
        return entries_as_json(from, one, state, options.rows_max);
    }
    looked_at.push_back(std::move(one));
  }
  return no_such_state(options.state, looked_at);
}

} // namespace

int run_inspect(const inspect_options& options) {
  const auto text = describe(options);
  if (!text) {
    std::fprintf(stderr, "headrace: %s\n", to_string(text.error()).c_str());
    return text.error().code == errc::bad_usage ? bad_usage : failed;
  }
  std::fputs(text->c_str(), stdout);
  return done;
}

} // namespace headrace::client
