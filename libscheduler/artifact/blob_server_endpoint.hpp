#pragma once

#include "libactors/base/digest.hpp"
#include "libactors/base/file_system.hpp"
#include "libactors/rpc/endpoint.hpp"
#include "schema/artifact.capnp.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>

namespace headrace::scheduler {

struct blob_server_settings {
  std::string directory; ///< made when it is not there
  std::uint64_t blob_bytes_max = std::uint64_t{4} << 30U;
  std::uint64_t part_bytes_max = std::uint64_t{8} << 20U; ///< of one message, both ways
  /// An upload whose next part does not come for so long is given up, and its file removed.
  std::chrono::milliseconds upload_idle_max{60'000};
};

/// Stores artifacts by the SHA-256 of their bytes: takes them in parts (PutBlob, in order; offset 0
/// starts over), checks the digest, then renames into place; gives them in parts (GetBlob). A blob
/// that is there is whole, and lies at `<directory>/<digest>`. What an upload that was broken off
/// left, also in an earlier process, is removed. Files on the executor. One a cluster.
class blob_server_endpoint final : public actors::endpoint {
public:
  /// `files` lives longer.
  blob_server_endpoint(blob_server_settings settings, headrace::file_system& files);

private:
  struct upload;
  struct put_request {
    message<schema::PutBlob> request;
    actors::reply_to<schema::PutBlobReply> back;
  };
  void on_start() override;
  void put(const message<schema::PutBlob>& request, actors::reply_to<schema::PutBlobReply> back);
  void next_put(const std::string& digest);
  void watch_upload(const std::string& digest);
  void get(const message<schema::GetBlob>& request, actors::reply_to<schema::BlobPart> back);

  blob_server_settings settings_;
  headrace::file_system& files_;
  std::map<std::string, std::shared_ptr<upload>> uploads_; // by digest
  bool is_swept_ = false; // of what an earlier process left; uploads wait until then
};

} // namespace headrace::scheduler
