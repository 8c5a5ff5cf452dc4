#include "libscheduler/artifact/blob_server_endpoint.hpp"

#include "libactors/base/file_failure.hpp"
#include "libactors/base/path.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace headrace::scheduler {

/// A blob on its way in. Its file and digest are touched by one executor step at a time, the rest
/// by the endpoint's turns.
struct blob_server_endpoint::upload {
  std::deque<put_request> waiting;
  bool is_busy = false;
  std::uint64_t parts = 0; // that were answered
  std::unique_ptr<writable_file> file;
  sha256 digest;
  std::uint64_t written = 0;
};

namespace {

constexpr std::string_view temporary_ending = ".part";

std::string temporary(const std::string& path) { return path + std::string(temporary_ending); }

byte_view part_of(capnp::Data::Reader data) { return {data.asChars().begin(), data.size()}; }

bool is_of_storage(const error& failure) {
  return failure.code == errc::storage_full || failure.code == errc::storage_failed ||
         failure.code == file_unusable;
}

error not_found(const std::string& digest) {
  return {errc::file_not_found, "blob is not there: " + digest};
}

} // namespace

blob_server_endpoint::blob_server_endpoint(blob_server_settings settings,
                                           headrace::file_system& files)
    : settings_(std::move(settings)), files_(files) {
  on_ask<schema::PutBlob, schema::PutBlobReply>(
      [this](const auto& request, auto back) { put(request, std::move(back)); });
  on_ask<schema::GetBlob, schema::BlobPart>(
      [this](const auto& request, auto back) { get(request, std::move(back)); });
}

void blob_server_endpoint::on_start() {
  run_blocking<status>(
      [files = &files_, directory = settings_.directory]() -> status {
        const auto entries = files->list(directory);
        if (!entries)
          return entries.error().code == errc::file_not_found ? status() : entries.error();
        for (const auto& entry : *entries)
          if (!entry.is_directory &&
              (entry.path.ends_with(temporary_ending) || is_unfinished_file(entry.path)))
            HEADRACE_CHECK(files->remove(entry.path));
        return {};
      },
      [this](const status& swept) {
        if (!swept)
          log().warn("broken uploads not removed", {{"cause", to_string(swept.error())}});
        is_swept_ = true;
        std::vector<std::string> waiting;
        for (const auto& [digest, entry] : uploads_)
          waiting.push_back(digest);
        for (const auto& digest : waiting)
          next_put(digest);
      });
}

/// Gives the upload up when no part comes for a while.
void blob_server_endpoint::watch_upload(const std::string& digest) {
  const auto entry = uploads_.find(digest);
  if (entry == uploads_.end() || entry->second->file == nullptr)
    return;
  after(settings_.upload_idle_max, [this, digest, seen = entry->second->parts] {
    const auto known = uploads_.find(digest);
    if (known == uploads_.end() || known->second->is_busy || known->second->parts != seen)
      return;
    log().info("upload given up: its next part did not come", {{"digest", digest}});
    known->second->is_busy = true; // a part that comes now waits for the removal
    run_blocking<status>(
        [files = &files_, at = known->second, path = settings_.directory + "/" + digest] {
          at->file.reset();
          return files->remove(temporary(path));
        },
        [this, digest, at = known->second](const status& removed) {
          if (!removed)
            log().warn("broken upload not removed", {{"cause", to_string(removed.error())}});
          at->is_busy = false;
          next_put(digest);
        });
  });
}

void blob_server_endpoint::put(const message<schema::PutBlob>& request,
                               actors::reply_to<schema::PutBlobReply> back) {
  const auto view = request.view();
  const std::string digest = view->getDigest().cStr();
  if (!is_sha256_hex(digest)) {
    back.fail({errc::malformed_message, "digest is not 64 hex digits: " + digest.substr(0, 80)});
    return;
  }
  if (view->getTotalBytes() > settings_.blob_bytes_max ||
      view->getPart().size() > settings_.part_bytes_max) {
    back.fail({errc::message_too_large,
               "blob or part too large: " + std::to_string(view->getTotalBytes()) + " bytes"});
    return;
  }
  auto& entry = uploads_[digest];
  if (entry == nullptr)
    entry = std::make_shared<upload>();
  entry->waiting.push_back({request, std::move(back)});
  next_put(digest);
}

void blob_server_endpoint::next_put(const std::string& digest) {
  const auto entry = uploads_.find(digest);
  if (!is_swept_ || entry == uploads_.end() || entry->second->is_busy)
    return;
  const std::shared_ptr<upload> at = entry->second;
  if (at->waiting.empty()) {
    if (at->file == nullptr)
      uploads_.erase(entry);
    return;
  }
  at->is_busy = true;
  auto back =
      std::make_shared<actors::reply_to<schema::PutBlobReply>>(std::move(at->waiting.front().back));
  const auto request = at->waiting.front().request;
  at->waiting.pop_front();
  const std::string path = settings_.directory + "/" + digest;
  auto step = [at, request, path, digest, directory = settings_.directory,
               files = &files_]() -> result<bool> {
    const auto view = request.view();
    if (view->getOffset() == 0) {
      if (files->stat(path))
        return true;
      HEADRACE_CHECK(files->create_directories(directory));
      at->file.reset();
      HEADRACE_TRY(at->file, files->create(temporary(path)));
      at->digest = sha256();
      at->written = 0;
    }
    if (at->file == nullptr || view->getOffset() != at->written)
      return error(errc::malformed_message, "part does not follow the last one: offset " +
                                                std::to_string(view->getOffset()) + " of " +
                                                digest);
    const byte_view part = part_of(view->getPart());
    HEADRACE_CHECK(at->file->append(part));
    at->digest.update(part);
    at->written += part.size();
    if (at->written < view->getTotalBytes())
      return false;
    auto file = std::exchange(at->file, nullptr);
    const std::string actual = at->digest.finish();
    if (actual != digest || at->written != view->getTotalBytes()) {
      HEADRACE_CHECK(files->remove(temporary(path)));
      return error(errc::malformed_message,
                   "blob does not have its digest: said " + digest + ", is " + actual);
    }
    auto stored = file->sync();
    if (stored)
      stored = file->close();
    if (stored)
      stored = files->rename(temporary(path), path);
    if (!stored) {
      static_cast<void>(files->remove(temporary(path)));
      return stored.error();
    }
    return true;
  };
  auto clean_step = [step = std::move(step), at, path, files = &files_]() -> result<bool> {
    auto complete = step();
    if (!complete && at->file != nullptr) { // a next try starts over
      at->file.reset();
      static_cast<void>(files->remove(temporary(path)));
    }
    return complete;
  };
  run_blocking<result<bool>>(std::move(clean_step), [this, at, back,
                                                     digest](const result<bool>& complete) {
    at->is_busy = false;
    ++at->parts;
    if (complete) {
      message_builder<schema::PutBlobReply> reply;
      reply->setComplete(*complete);
      back->send(reply.finish());
    } else {
      log().warn("blob part refused", {{"digest", digest}, {"cause", to_string(complete.error())}});
      back->fail(is_of_storage(complete.error())
                     ? error(complete.error().code,
                             "job manager cannot store what the job is made of", complete.error())
                     : complete.error());
    }
    next_put(digest);
    watch_upload(digest);
  });
}

void blob_server_endpoint::get(const message<schema::GetBlob>& request,
                               actors::reply_to<schema::BlobPart> back) {
  const auto view = request.view();
  const std::string digest = view->getDigest().cStr();
  if (!is_sha256_hex(digest)) {
    back.fail({errc::malformed_message, "digest is not 64 hex digits: " + digest.substr(0, 80)});
    return;
  }
  const auto bytes_max = std::min(view->getBytesMax(), settings_.part_bytes_max);
  auto answer = std::make_shared<actors::reply_to<schema::BlobPart>>(std::move(back));
  run_blocking<std::shared_ptr<result<message<schema::BlobPart>>>>(
      [files = &files_, path = settings_.directory + "/" + digest, digest,
       offset = view->getOffset(), bytes_max]() {
        using part = result<message<schema::BlobPart>>;
        auto file = files->open(path);
        if (!file)
          return std::make_shared<part>(
              file.error().code == errc::file_not_found ? not_found(digest) : file.error());
        const std::uint64_t total = (*file)->size_bytes();
        const std::uint64_t wanted = offset >= total ? 0 : std::min(bytes_max, total - offset);
        message_builder<schema::BlobPart> reply;
        reply->setTotalBytes(total);
        auto data = reply->initPart(static_cast<unsigned>(wanted));
        auto read = (*file)->read_at(offset, {data.asChars().begin(), data.size()});
        if (!read)
          return std::make_shared<part>(read.error());
        if (*read != wanted)
          return std::make_shared<part>(error(errc::storage_failed, "blob ends early: " + digest));
        return std::make_shared<part>(reply.finish());
      },
      [answer](const std::shared_ptr<result<message<schema::BlobPart>>>& part) {
        if (*part)
          answer->send(**part);
        else
          answer->fail(part->error());
      });
}

} // namespace headrace::scheduler
