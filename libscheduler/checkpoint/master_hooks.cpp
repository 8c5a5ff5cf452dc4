#include "libscheduler/checkpoint/master_hooks.hpp"

#include "libgraph/connector/sink.hpp"
#include "libgraph/connector/source.hpp"

#include <algorithm>
#include <exception>
#include <utility>
#include <variant>

namespace headrace::scheduler {

namespace {

/// Calls user code.
template <class Call>
status guarded(const std::string& identifier, const char* what, Call call) {
  const auto failed = [&](const char* why) {
    return error(errc::user_function_failed,
                 "master hook `" + identifier + "` failed to " + what + ": " + why);
  };
  try {
    call();
    return {};
  } catch (const std::exception& thrown) {
    return failed(thrown.what());
  } catch (...) {
    return failed("it threw what is no exception");
  }
}

} // namespace

byte_string encode_hook_states(const master_hook_states& states) {
  byte_string out;
  if (states.empty())
    return out;
  byte_writer to(out);
  to.put_varint(states.size());
  for (const auto& [identifier, state] : states) {
    to.put_bytes(identifier);
    to.put_bytes(state);
  }
  return out;
}

result<master_hook_states> decode_hook_states(byte_view stored) {
  master_hook_states out;
  byte_reader in(stored);
  if (in.at_end())
    return out;
  HEADRACE_TRY(const auto count, in.get_varint());
  for (std::uint64_t i = 0; i < count; ++i) {
    HEADRACE_TRY(const auto identifier, in.get_bytes());
    HEADRACE_TRY(const auto state, in.get_bytes());
    out[std::string(identifier)] = byte_string(state);
  }
  return out;
}

status check_hook_states(const master_hook_states& states, const graph::checkpoint_spec& job) {
  if (job.allow_non_restored_state)
    return {};
  for (const auto& [identifier, state] : states) {
    const bool is_known =
        std::any_of(job.master_hooks.begin(), job.master_hooks.end(),
                    [&](const auto& known) { return known.identifier == identifier; });
    if (!is_known)
      return error(errc::incompatible_state,
                   "checkpoint has state of a master hook that the job has not (allow "
                   "non-restored state to drop it): `" +
                       identifier + "`");
  }
  return {};
}

master_hooks::master_hooks(std::shared_ptr<const graph::job_graph> job,
                           graph::job_code_loader* code, std::string artifact_directory)
    : job_(std::move(job)), code_(code), artifact_directory_(std::move(artifact_directory)) {}

status master_hooks::load() {
  const auto& wanted = job_->checkpoints.master_hooks;
  if (hooks_.size() == wanted.size())
    return {};
  if (code_ == nullptr)
    return error(errc::job_object_unloadable, "no loader for job code: master hooks");
  const auto path = job_->artifacts.empty() ? std::string()
                                            : artifact_directory_ + "/" + job_->artifacts[0].digest;
  HEADRACE_TRY(loaded_, code_->load(path, job_->arguments, job_->hash));
  hooks_.clear();
  for (const auto& one : wanted) {
    if (static_cast<std::size_t>(one.function) >= loaded_->functions.size())
      return error(errc::job_object_incompatible, "job code has no function " +
                                                      std::to_string(one.function) +
                                                      ": master hook `" + one.identifier + "`");
    std::unique_ptr<graph::master_hook> fresh;
    HEADRACE_CHECK(guarded(one.identifier, "be made", [&] {
      auto made = loaded_->functions[static_cast<std::size_t>(one.function)]();
      if (auto* found = std::get_if<std::unique_ptr<graph::master_hook>>(&made))
        fresh = std::move(*found);
    }));
    if (fresh == nullptr)
      return error(errc::job_object_incompatible, "function " + std::to_string(one.function) +
                                                      " of the job code makes no master hook: `" +
                                                      one.identifier + "`");
    hooks_.push_back({one.identifier, std::move(fresh)});
  }
  return {};
}

result<master_hook_states> master_hooks::trigger(checkpoint_id checkpoint,
                                                 std::int64_t timestamp_ms) {
  HEADRACE_CHECK(load());
  master_hook_states out;
  for (const auto& one : hooks_)
    HEADRACE_CHECK(guarded(one.identifier, "trigger a checkpoint", [&] {
      out[one.identifier] = one.made->trigger_checkpoint(checkpoint, timestamp_ms);
    }));
  return out;
}

status master_hooks::restore(checkpoint_id checkpoint, const master_hook_states& states) {
  HEADRACE_CHECK(load());
  for (const auto& one : hooks_)
    HEADRACE_CHECK(guarded(one.identifier, "reset", [&] { one.made->reset(); }));
  for (const auto& one : hooks_) {
    const auto stored = states.find(one.identifier);
    if (stored == states.end())
      continue;
    HEADRACE_CHECK(guarded(one.identifier, "restore a checkpoint",
                           [&] { one.made->restore_checkpoint(checkpoint, stored->second); }));
  }
  return {};
}

void master_hooks::close() {
  for (const auto& one : hooks_)
    static_cast<void>(guarded(one.identifier, "close", [&] { one.made->close(); }).has_value());
  hooks_.clear();
}

} // namespace headrace::scheduler
