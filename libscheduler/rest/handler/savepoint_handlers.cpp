#include "libscheduler/rest/handler/savepoint_handlers.hpp"

#include "libscheduler/rest/handler/json_text.hpp"
#include "libactors/base/path.hpp"
#include "libactors/message/ids_codec.hpp"

#include <nlohmann/json.hpp>

#include <set>

namespace headrace::scheduler {
namespace {

using json = nlohmann::ordered_json;

error bad(const std::string& what) { return {errc::bad_usage, what}; }

/// Reads the fields of a body one by one. The first that is wrong is told at the end.
class body_reader {
public:
  explicit body_reader(std::string_view text) {
    if (!text.empty())
      fields_ = json::parse(text, nullptr, false);
    if (!fields_.is_object())
      fail("body is no JSON object");
  }

  std::string text(const char* name) {
    const auto* found = find(name);
    if (found == nullptr || found->is_null())
      return {};
    if (found->is_string())
      return found->get<std::string>();
    fail(std::string("field is no text: ") + name);
    return {};
  }
  /// Absolute: task managers stand elsewhere.
  std::string directory(const char* name) {
    auto read = absolute_path(text(name));
    if (read)
      return *std::move(read);
    fail(std::string(name) + ": " + read.error().message);
    return {};
  }
  bool flag(const char* name) {
    const auto* found = find(name);
    if (found == nullptr || found->is_null())
      return false;
    if (found->is_boolean())
      return found->get<bool>();
    fail(std::string("field is neither true nor false: ") + name);
    return false;
  }
  void fail(const std::string& what) {
    if (wrong_.empty())
      wrong_ = what;
  }
  status end() {
    if (wrong_.empty()) {
      for (const auto& [name, value] : fields_.items())
        if (!known_.contains(name))
          fail("unknown field: " + name);
    }
    return wrong_.empty() ? status() : bad(wrong_);
  }

private:
  const json* find(const char* name) {
    known_.insert(name);
    if (!fields_.is_object())
      return nullptr;
    const auto found = fields_.find(name);
    return found == fields_.end() ? nullptr : &*found;
  }

  json fields_ = json::object();
  std::set<std::string> known_;
  std::string wrong_;
};

/// The fields that both bodies have.
void read_common(body_reader& in, savepoint_body& out) {
  const auto format = in.text("formatType");
  if (!format.empty() && format != "CANONICAL" && format != "NATIVE")
    in.fail("formatType is CANONICAL or NATIVE: " + format);
  out.is_native = format == "NATIVE";
  const auto trigger = in.text("triggerId");
  if (trigger.empty())
    return;
  if (const auto read = parse_id<savepoint_trigger_tag>(trigger); read && !read->is_none())
    out.trigger = *read;
  else
    in.fail("triggerId is no id of 32 hex digits: " + trigger);
}

} // namespace

result<savepoint_body> read_savepoint_body(std::string_view text) {
  body_reader in(text);
  savepoint_body out;
  read_common(in, out);
  out.target_directory = in.directory("target-directory");
  if (in.flag("cancel-job"))
    in.fail("cancel-job is not done; POST /jobs/:job/stop ends a job with a savepoint");
  HEADRACE_CHECK(in.end());
  return out;
}

result<savepoint_body> read_stop_body(std::string_view text) {
  body_reader in(text);
  savepoint_body out;
  read_common(in, out);
  out.target_directory = in.directory("targetDirectory");
  out.stop = in.flag("drain") ? graph::savepoint_stop::drain : graph::savepoint_stop::suspend;
  HEADRACE_CHECK(in.end());
  return out;
}

message<schema::TriggerSavepoint> describe_trigger(const job_id& job,
                                                   const savepoint_body& wanted) {
  message_builder<schema::TriggerSavepoint> out;
  write(out->initTrigger(), wanted.trigger);
  auto order = out->initOrder();
  write(order.initJob(), job);
  order.setTargetDirectory(wanted.target_directory);
  order.setNative(wanted.is_native);
  order.setStop(static_cast<schema::SavepointStop>(wanted.stop));
  return out.finish();
}

std::string describe_triggered(const savepoint_trigger_id& trigger) {
  return to_text({{"request-id", to_string(trigger)}});
}

std::string describe_savepoint(const message<schema::SavepointStatus>& status) {
  const auto view = status.view();
  json out;
  out["status"] = {{"id", view->getIsDone() ? "COMPLETED" : "IN_PROGRESS"}};
  if (!view->getIsDone())
    return to_text(out);
  const auto failure = read_error(view->getFailure());
  if (failure.code == errc::none)
    out["operation"] = {{"location", view->getOutcome().getPath().cStr()}};
  else
    out["operation"] = {
        {"failure-cause",
         {{"class", std::string(name_of(failure.code))}, {"stack-trace", to_string(failure)}}}};
  return to_text(out);
}

std::string describe_stopped(const message<schema::SavepointReply>& stopped) {
  const auto view = stopped.view();
  json out;
  out["checkpoint"] = view->getCheckpoint();
  out["external_path"] = view->getPath().cStr();
  return to_text(out);
}

} // namespace headrace::scheduler
