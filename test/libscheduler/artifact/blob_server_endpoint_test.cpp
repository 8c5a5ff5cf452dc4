#include "test/libscheduler/testing_cluster.hpp"

#include <doctest/doctest.h>

#include <fstream>

namespace headrace::scheduler {

using testing::testing_cluster;

namespace {

result<bool> put(testing_cluster& cluster, const std::string& digest, std::uint64_t total,
                 std::uint64_t offset, const std::string& part) {
  message_builder<schema::PutBlob> request;
  request->setDigest(digest);
  request->setTotalBytes(total);
  request->setOffset(offset);
  auto data = request->initPart(static_cast<unsigned>(part.size()));
  std::copy(part.begin(), part.end(), data.asChars().begin());
  const auto reply = cluster.node->ask_and_wait<schema::PutBlobReply>(
      cluster.blob_server, request.finish(), std::chrono::milliseconds(1'000));
  if (!reply)
    return reply.error();
  return reply->view()->getComplete();
}
result<std::string> get(testing_cluster& cluster, const std::string& digest, std::uint64_t offset,
                        std::uint64_t bytes_max) {
  message_builder<schema::GetBlob> request;
  request->setDigest(digest);
  request->setOffset(offset);
  request->setBytesMax(bytes_max);
  const auto reply = cluster.node->ask_and_wait<schema::BlobPart>(
      cluster.blob_server, request.finish(), std::chrono::milliseconds(1'000));
  if (!reply)
    return reply.error();
  const auto view = reply->view();
  return std::string(view->getPart().asChars().begin(), view->getPart().size());
}

} // namespace

TEST_SUITE("scheduler/artifact/blob_server_endpoint") {

TEST_CASE("a blob goes in and comes out in parts") {
  testing_cluster cluster;
  const auto digest = sha256_hex("hello, world");
  CHECK(*put(cluster, digest, 12, 0, "hello, ") == false);
  CHECK(get(cluster, digest, 0, 100).error().code == errc::file_not_found);
  CHECK(*put(cluster, digest, 12, 7, "world"));

  CHECK(*get(cluster, digest, 0, 5) == "hello");
  CHECK(*get(cluster, digest, 5, 100) == ", world");
  CHECK(get(cluster, digest, 100, 100)->empty());
  CHECK(*put(cluster, digest, 12, 0, "hello, ")); // it is there
}

TEST_CASE("bytes that are not what their digest says are not kept") {
  testing_cluster cluster;
  const auto digest = sha256_hex("good");

  CHECK(put(cluster, digest, 4, 0, "evil").error().code == errc::malformed_message);

  CHECK(get(cluster, digest, 0, 10).error().code == errc::file_not_found);
  CHECK(*put(cluster, digest, 4, 0, "good"));
}

TEST_CASE("a part that does not follow, a name that is no digest, and a giant are refused") {
  testing_cluster cluster;
  const auto digest = sha256_hex("abcdef");
  CHECK(*put(cluster, digest, 6, 0, "abc") == false);
  CHECK(put(cluster, digest, 6, 4, "ef").error().code == errc::malformed_message);
  CHECK(put(cluster, "../../passwd", 1, 0, "x").error().code == errc::malformed_message);
  CHECK(get(cluster, "../../passwd", 0, 1).error().code == errc::malformed_message);
  CHECK(put(cluster, digest, std::uint64_t{1} << 60U, 0, "x").error().code ==
        errc::message_too_large);
}

TEST_CASE("an upload that is broken off leaves nothing behind") {
  testing_cluster cluster;
  const auto digest = sha256_hex("abcdef");
  const auto part_file = cluster.directory() / "blobs" / (digest + ".part");
  CHECK(*put(cluster, digest, 6, 0, "abc") == false);
  cluster.node->advance(std::chrono::seconds(50));
  CHECK(std::filesystem::exists(part_file));
  CHECK(*put(cluster, digest, 6, 3, "d") == false); // it goes on
  cluster.node->advance(std::chrono::seconds(50));
  CHECK(std::filesystem::exists(part_file));

  cluster.node->advance(std::chrono::seconds(20));

  CHECK(!std::filesystem::exists(part_file));
  CHECK(put(cluster, digest, 6, 4, "ef").error().code == errc::malformed_message);
  CHECK(*put(cluster, digest, 6, 0, "abcdef"));
}

TEST_CASE("what uploads to an earlier blob server left is removed when the next one starts") {
  testing_cluster cluster;
  const auto blobs = cluster.directory() / "blobs";
  std::filesystem::create_directories(blobs);
  const auto digest = sha256_hex("abcdef");
  std::ofstream(blobs / (digest + ".part")) << "abc";
  std::ofstream(blobs / sha256_hex("whole")) << "whole";

  CHECK(*put(cluster, sha256_hex("x"), 1, 0, "x")); // waits until it has started

  CHECK(!std::filesystem::exists(blobs / (digest + ".part")));
  CHECK(*get(cluster, sha256_hex("whole"), 0, 9) == "whole");
}

TEST_CASE("a client uploads a file by its content") {
  testing_cluster cluster;
  std::filesystem::create_directories(cluster.directory());
  const std::string path = cluster.directory() / "job.so";
  std::ofstream(path) << std::string(5'000'000, 'x');

  const auto artifact = cluster.client->upload(*cluster.files, path, "job.so");

  REQUIRE(artifact.has_value());
  CHECK(artifact->size_bytes == 5'000'000);
  CHECK(artifact->digest == sha256_hex(std::string(5'000'000, 'x')));
  CHECK(std::filesystem::file_size(cluster.directory() / "blobs" / artifact->digest) == 5'000'000);
}

} // TEST_SUITE("scheduler/artifact/blob_server_endpoint")

} // namespace headrace::scheduler
