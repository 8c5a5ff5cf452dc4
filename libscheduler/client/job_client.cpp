#include "libscheduler/client/job_client.hpp"

#include "libgraph/job_graph/job_graph_codec.hpp"
#include "libactors/base/digest.hpp"
#include "libactors/message/ids_codec.hpp"
#include "schema/artifact.capnp.h"
#include "schema/error.capnp.h"

#include <algorithm>
#include <utility>

namespace headrace::scheduler {

namespace {

constexpr std::uint64_t part_bytes = std::uint64_t{4} << 20U;

result<std::string> digest_of(readable_file& file) {
  sha256 digest;
  byte_string buffer(part_bytes, '\0');
  for (std::uint64_t offset = 0; offset < file.size_bytes();) {
    HEADRACE_TRY(const auto read, file.read_at(offset, {buffer.data(), buffer.size()}));
    if (read == 0)
      return error(errc::storage_failed, "file became shorter while it was read");
    digest.update({buffer.data(), read});
    offset += read;
  }
  return digest.finish();
}

template <class Request>
message<Request> about(const job_id& job) {
  message_builder<Request> request;
  write(request->initJob(), job);
  return request.finish();
}

} // namespace

message<schema::TakeSavepoint> describe(const job_id& job, const savepoint_wish& wish) {
  message_builder<schema::TakeSavepoint> order;
  write(order->initJob(), job);
  order->setTargetDirectory(wish.target_directory);
  order->setNative(wish.is_native);
  order->setStop(static_cast<schema::SavepointStop>(wish.stop));
  return order.finish();
}

taken_savepoint read_savepoint(const message<schema::SavepointReply>& reply) {
  const auto view = reply.view();
  return {view->getCheckpoint(), view->getPath().cStr()};
}

job_client::job_client(actors::node& through, actors::address dispatcher,
                       actors::address blob_server, std::chrono::milliseconds ask_timeout)
    : through_(through), dispatcher_(std::move(dispatcher)), blob_server_(std::move(blob_server)),
      ask_timeout_(ask_timeout) {}

result<graph::artifact> job_client::upload(headrace::file_system& files, const std::string& path,
                                           const std::string& name) {
  HEADRACE_TRY(auto file, files.open(path));
  HEADRACE_TRY(auto digest, digest_of(*file));
  HEADRACE_CHECK(put(digest, *file));
  return graph::artifact{name, std::move(digest), file->size_bytes()};
}

headrace::status job_client::put(const std::string& digest, readable_file& file) {
  const std::uint64_t total = file.size_bytes();
  std::uint64_t offset = 0;
  do {
    const std::uint64_t size = std::min(part_bytes, total - offset);
    message_builder<schema::PutBlob> request;
    request->setDigest(digest);
    request->setTotalBytes(total);
    request->setOffset(offset);
    auto part = request->initPart(static_cast<unsigned>(size));
    HEADRACE_TRY(const auto read, file.read_at(offset, {part.asChars().begin(), part.size()}));
    if (read != size)
      return error(errc::storage_failed, "file became shorter while it was read");
    HEADRACE_TRY(const auto reply, through_.ask_and_wait<schema::PutBlobReply>(
                                       blob_server_, request.finish(), ask_timeout_));
    if (reply.view()->getComplete())
      return {};
    offset += size;
  } while (offset < total);
  return error(errc::storage_failed, "blob server wants more than the whole file: " + digest);
}

result<job_id> job_client::submit(const graph::job_graph& job) {
  HEADRACE_CHECK(graph::validate(job));
  message_builder<schema::SubmitJob> request;
  const auto encoded = graph::encode(job);
  request->initGraph().setAs<schema::JobGraph>(*encoded.view());
  HEADRACE_TRY(const auto reply, through_.ask_and_wait<schema::SubmitJobReply>(
                                     dispatcher_, request.finish(), ask_timeout_));
  return read_id<job_id>(reply.view()->getJob());
}

result<job_status> job_client::status(const job_id& job) {
  HEADRACE_TRY(const auto reply,
               through_.ask_and_wait<schema::JobStatus>(
                   dispatcher_, about<schema::RequestJobStatus>(job), ask_timeout_));
  return read_job_status(reply);
}

result<message<schema::JobDetails>> job_client::details(const job_id& job) {
  message_builder<schema::RequestJobDetails> question;
  write(question->initJob(), job);
  return through_.ask_and_wait<schema::JobDetails>(dispatcher_, question.finish(), ask_timeout_);
}

result<message<schema::JobList>> job_client::list() {
  return through_.ask_and_wait<schema::JobList>(
      dispatcher_, message_builder<schema::ListJobs>().finish(), ask_timeout_);
}

result<job_outcome> job_client::wait(const job_id& job, std::chrono::milliseconds longest) {
  const headrace::clock& time = through_.environment().time;
  const std::int64_t end_us = time.now_us() + std::chrono::microseconds(longest).count();
  while (true) {
    auto patience = ask_timeout_;
    if (longest.count() > 0) {
      const std::int64_t left_ms = (end_us - time.now_us()) / 1000;
      if (left_ms <= 0)
        return error(errc::timed_out, "job has not ended: " + to_string(job) + ", after " +
                                          std::to_string(longest.count()) + " ms");
      patience = std::min(patience, std::chrono::milliseconds(left_ms));
    }
    const auto reply = through_.ask_and_wait<schema::JobResult>(
        dispatcher_, about<schema::RequestJobResult>(job), patience);
    if (!reply && reply.error().code == errc::timed_out)
      continue;
    if (!reply)
      return reply.error();
    const auto view = reply->view();
    return job_outcome{job,
                       static_cast<job_state>(view->getState()),
                       view->getRuntimeMs(),
                       read_error(view->getFailure()),
                       view->getRestarts(),
                       view->getCompletedCheckpoints()};
  }
}

headrace::status job_client::cancel(const job_id& job) {
  HEADRACE_CHECK(through_.ask_and_wait<schema::Acknowledge>(
      dispatcher_, about<schema::CancelJob>(job), ask_timeout_));
  return {};
}

result<taken_savepoint> job_client::savepoint(const job_id& job, const savepoint_wish& wish,
                                              std::chrono::milliseconds longest) {
  HEADRACE_TRY(const auto reply, through_.ask_and_wait<schema::SavepointReply>(
                                     dispatcher_, describe(job, wish), longest));
  return read_savepoint(reply);
}

headrace::status job_client::trigger_savepoint(const job_id& job,
                                               const savepoint_trigger_id& trigger,
                                               const savepoint_wish& wish) {
  message_builder<schema::TriggerSavepoint> order;
  write(order->initTrigger(), trigger);
  order->setOrder(*describe(job, wish).view());
  HEADRACE_CHECK(
      through_.ask_and_wait<schema::Acknowledge>(dispatcher_, order.finish(), ask_timeout_));
  return {};
}

result<std::optional<taken_savepoint>>
job_client::savepoint_status(const job_id& job, const savepoint_trigger_id& trigger) {
  message_builder<schema::RequestSavepointStatus> question;
  write(question->initJob(), job);
  write(question->initTrigger(), trigger);
  HEADRACE_TRY(const auto reply, through_.ask_and_wait<schema::SavepointStatus>(
                                     dispatcher_, question.finish(), ask_timeout_));
  const auto view = reply.view();
  if (!view->getIsDone())
    return std::optional<taken_savepoint>();
  if (auto failure = read_error(view->getFailure()); failure.code != errc::none)
    return failure;
  const auto outcome = view->getOutcome();
  return std::optional(taken_savepoint{outcome.getCheckpoint(), outcome.getPath().cStr()});
}

result<collected_batches> job_client::fetch(const job_id& job, const operator_id& sink,
                                            std::uint64_t offset) {
  message_builder<schema::FetchCollected> request;
  write(request->initJob(), job);
  write(request->initOperator(), sink);
  request->setOffset(offset);
  HEADRACE_TRY(const auto reply, through_.ask_and_wait<schema::CollectedRows>(
                                     dispatcher_, request.finish(), ask_timeout_));
  const auto view = reply.view();
  collected_batches rows{view->getNextOffset(), {}, view->getIsLast()};
  for (const auto batch : view->getBatches())
    rows.batches.emplace_back(batch.asChars().begin(), batch.size());
  return rows;
}

} // namespace headrace::scheduler
