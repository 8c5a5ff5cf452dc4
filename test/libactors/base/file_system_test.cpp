#include "libactors/base/file_system.hpp"

#include "libactors/base/file_failure.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace headrace;

namespace {

/// An empty directory that goes with the test.
class scratch_directory {
public:
  scratch_directory()
      : path_((std::filesystem::temp_directory_path() /
               ("headrace-files-" + std::to_string(::getpid())))
                  .string()) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~scratch_directory() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + '/' + name; }
  const std::string& path() const { return path_; }

private:
  std::string path_;
};

} // namespace

TEST_SUITE("actors/base/file_system") {

TEST_CASE("what is written is read, at any offset") {
  const scratch_directory in;
  const auto files = make_local_file_system();
  const std::string large(200'000, 'x');
  auto out = files->create(in / "a");
  REQUIRE(out);
  CHECK((*out)->append("head"));
  CHECK((*out)->append(large));
  CHECK((*out)->append("tail"));
  CHECK((*out)->sync());
  CHECK((*out)->close());

  CHECK(*files->read_all(in / "a", 1'000'000) == "head" + large + "tail");
  auto opened = files->open(in / "a");
  REQUIRE(opened);
  CHECK((*opened)->size_bytes() == 200'008);
  std::string part(6, '\0');
  CHECK(*(*opened)->read_at(200'004, part) == 4);
  CHECK(part.substr(0, 4) == "tail");
  CHECK(*(*opened)->read_at(300'000, part) == 0);
}

TEST_CASE("a file is resumed where it was cut, and never longer than it is") {
  const scratch_directory in;
  const auto files = make_local_file_system();
  REQUIRE(files->write_atomically(in / "a", "0123456789"));

  auto out = files->resume(in / "a", 4);
  REQUIRE(out);
  CHECK((*out)->append("XY"));
  CHECK((*out)->close());
  CHECK(*files->read_all(in / "a", 100) == "0123XY");

  CHECK(files->resume(in / "a", 7).error().code == errc::storage_failed);
  CHECK(files->resume(in / "none", 0).error().code == errc::file_not_found);
}

TEST_CASE("an atomic write replaces the file and leaves nothing else") {
  const scratch_directory in;
  const auto files = make_local_file_system();

  REQUIRE(files->write_atomically(in / "a", "old"));
  REQUIRE(files->write_atomically(in / "a", "new"));

  CHECK(*files->read_all(in / "a", 100) == "new");
  CHECK(files->list(in.path())->size() == 1);
  CHECK(files->write_atomically(in / "no/such/a", "x").error().code == errc::file_not_found);
}

TEST_CASE("a full disk is storage_full, with the path and the system's words") {
  const auto files = make_local_file_system();
  auto out = files->create("/dev/full");
  REQUIRE(out);
  REQUIRE((*out)->append("x"));

  const auto synced = (*out)->sync();

  REQUIRE(!synced);
  CHECK(synced.error().code == errc::storage_full);
  CHECK(synced.error().message == "cannot write: /dev/full, No space left on device");
  CHECK((*out)->append(std::string(1'000'000, 'x')).error().code == errc::storage_full);
}

TEST_CASE("a linked file has both names until the last is removed") {
  scratch_directory scratch;
  const auto files = make_local_file_system();
  const auto first = scratch.path() + "/first";
  const auto second = scratch.path() + "/second";
  REQUIRE(files->write_atomically(first, "content"));

  REQUIRE(files->link(first, second));

  CHECK(files->stat(first)->inode == files->stat(second)->inode);
  CHECK(!files->link(first, second));
  REQUIRE(files->remove(first));
  CHECK(*files->read_all(second, 100) == "content");
}

TEST_CASE("a missing file is file_not_found, and removing it succeeds") {
  const scratch_directory in;
  const auto files = make_local_file_system();

  CHECK(files->open(in / "none").error().code == errc::file_not_found);
  CHECK(files->stat(in / "none").error().code == errc::file_not_found);
  CHECK(files->list(in / "none").error().code == errc::file_not_found);
  CHECK(files->rename(in / "none", in / "other").error().code == errc::file_not_found);
  CHECK(files->remove(in / "none"));
  CHECK(files->remove_tree(in / "none"));
  CHECK(files->open(in.path()).error().code == file_unusable);
}

TEST_CASE("a file larger than allowed is not read") {
  const scratch_directory in;
  const auto files = make_local_file_system();
  REQUIRE(files->write_atomically(in / "a", "0123456789"));

  CHECK(files->read_all(in / "a", 9).error().code == errc::storage_failed);
  CHECK(files->read_all(in / "a", 10));
}

TEST_CASE("directories are made with their parents, listed in order and removed with all in them") {
  const scratch_directory in;
  const auto files = make_local_file_system();

  REQUIRE(files->create_directories(in / "x/y/z/"));
  REQUIRE(files->create_directories(in / "x/y/z"));
  REQUIRE(files->write_atomically(in / "x/b", "22"));
  REQUIRE(files->write_atomically(in / "x/a", "1"));
  CHECK(files->create_directories(in / "x/a/c").error().code == errc::file_not_found);
  CHECK(files->create_directories(in / "x/a").error().code == errc::file_not_found);

  const auto listed = files->list(in / "x");
  REQUIRE(listed);
  REQUIRE(listed->size() == 3);
  CHECK((*listed)[0].path == in / "x/a");
  CHECK((*listed)[0].size_bytes == 1);
  CHECK((*listed)[1].path == in / "x/b");
  CHECK((*listed)[2].is_directory);
  CHECK((*listed)[0].modified_ms > 0);
  CHECK(files->remove_tree(in / "x"));
  CHECK(files->list(in.path())->empty());
}

TEST_CASE("links are followed, but a tree is removed without what its links lead to") {
  const scratch_directory in;
  const auto files = make_local_file_system();
  REQUIRE(files->create_directories(in / "real"));
  REQUIRE(files->write_atomically(in / "real/a", "content"));
  REQUIRE(files->create_directories(in / "tree"));
  std::filesystem::create_directory_symlink(in / "real", in / "tree/link");
  std::filesystem::create_symlink(in / "nothing", in / "tree/dangling");

  CHECK(*files->read_all(in / "tree/link/a", 100) == "content");
  CHECK(files->stat(in / "tree/link")->is_directory);
  const auto listed = files->list(in / "tree");
  REQUIRE(listed->size() == 2);
  CHECK(listed->front().path == in / "tree/dangling");
  CHECK_FALSE(listed->front().is_regular); // it leads nowhere
  CHECK_FALSE(listed->front().is_directory);
  CHECK(listed->back().is_directory);
  CHECK(files->remove_tree(in / "tree"));
  CHECK(files->stat(in / "real/a"));
}

TEST_CASE("what is no regular file is refused at once: a pipe, a directory, links in a circle") {
  const scratch_directory in;
  const auto files = make_local_file_system();
  REQUIRE(::mkfifo((in / "pipe").c_str(), 0600) == 0);
  REQUIRE(files->create_directories(in / "directory"));
  std::filesystem::create_symlink("other", in / "one");
  std::filesystem::create_symlink("one", in / "other");
  std::filesystem::create_symlink("pipe", in / "link");
  std::filesystem::create_symlink("/dev/null", in / "device");

  for (const auto* name : {"pipe", "directory", "one", "link", "device"}) {
    CAPTURE(name);
    const auto opened = files->open(in / name);
    REQUIRE_FALSE(opened);
    CHECK(opened.error().code == file_unusable);
    CHECK(opened.error().message.starts_with("no regular file: " + (in / name)));
  }
  const auto circle = files->stat(in / "one");
  REQUIRE_FALSE(circle);
  CHECK(circle.error().code == file_unusable);
  CHECK(name_of(circle.error().code) == "file_unusable");
}

TEST_CASE("without a descriptor left, files are there all the same: the fault may pass") {
  const scratch_directory in;
  const auto files = make_local_file_system();
  REQUIRE(files->write_atomically(in / "a", "x"));
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none{0, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  const auto opened = files->open(in / "a");
  const auto listed = files->list(in / "");
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);

  REQUIRE_FALSE(opened);
  CHECK(opened.error().code == errc::storage_failed);
  REQUIRE_FALSE(listed);
  CHECK(listed.error().code == errc::storage_failed);
}

} // TEST_SUITE("actors/base/file_system")
