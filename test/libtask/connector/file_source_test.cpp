#include "test/libtask/connector/source_run.hpp"
#include "test/support/manual_clock.hpp"
#include "test/support/scratch_directory.hpp"
#include "test/support/seed.hpp"
#include "test/support/testing_file_system.hpp"
#include "libtask/connector/file/file_enumerator.hpp"
#include "libtask/connector/file/file_reader.hpp"
#include "libtask/connector/file/input_files.hpp"
#include "libtask/connector/file/written_order.hpp"
#include "libtask/connector/registration.hpp"
#include "libactors/base/file_failure.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace headrace::task {
namespace {

using graph::logical_type;
using testing::manual_clock;
using testing::testing_enumerator_context;
using testing::testing_file_system;

graph::row_type_ptr line_type() {
  return std::make_shared<const logical_type>(
      logical_type::row({{"line", logical_type::string(), ""}}));
}

const graph::connector_registry& registry() {
  static const auto filled = [] {
    graph::connector_registry out;
    register_connectors(out);
    return out;
  }();
  return filled;
}

std::unique_ptr<graph::source> make_source(graph::option_map options) {
  auto made = registry().create_source("file", options, line_type());
  REQUIRE_MESSAGE(made.has_value(), (made ? "" : made.error().message));
  return std::move(*made);
}

std::unique_ptr<graph::source> make_changes_source(const std::string& path) {
  const auto type =
      std::make_shared<const logical_type>(logical_type::row({{"n", logical_type::bigint(), ""}}));
  auto made = registry().create_source(
      "file", {{"path", path}, {"format", "changelog-json"}, {"source.split-size", "1"}}, type);
  REQUIRE_MESSAGE(made.has_value(), (made ? "" : made.error().message));
  return std::move(*made);
}

std::vector<std::string> texts(const graph::record_batch& rows) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < rows.size(); ++i)
    out.emplace_back(rows.at(0).string_at(rows.row_at(i)));
  return out;
}

std::unique_ptr<graph::decoder> lines_decoder() {
  return std::move(*(*registry().create_format("lines", {}))->create_decoder(line_type()));
}

/// Reads one split to its end; `restarts`: each fetch is done by a new reader from the state of the
/// one before.
std::vector<std::string> read_split(file_system& files, graph::source_split split,
                                    std::size_t block_bytes, std::size_t rows_max, bool restarts) {
  const manual_clock clock;
  const auto make = [&] {
    file_reading reading;
    reading.type = line_type();
    reading.block_bytes = block_bytes;
    return std::make_unique<file_reader>(std::move(reading), lines_decoder(),
                                         graph::reader_context{0, 1, files, clock, {}});
  };
  auto reader = make();
  REQUIRE(reader->add_split(split));
  std::vector<std::string> out;
  std::size_t idle = 0;
  for (;;) {
    auto got = reader->fetch({rows_max, 1U << 20U});
    REQUIRE_MESSAGE(got.has_value(), (got ? "" : got.error().message));
    REQUIRE(got->has_value());
    const auto rows = texts((*got)->rows);
    out.insert(out.end(), rows.begin(), rows.end());
    CHECK((*got)->split_id == split.id);
    if ((*got)->split_finished)
      break;
    idle = rows.empty() ? idle + 1 : 0;
    REQUIRE(idle < 1000);
    if (restarts && !rows.empty()) {
      reader = make();
      REQUIRE(reader->add_split({split.id, (*got)->state_after}));
    }
  }
  auto after = reader->fetch({});
  REQUIRE(after);
  CHECK_FALSE(after->has_value());
  return out;
}

} // namespace

TEST_SUITE("task/connector/file") {
TEST_CASE("splits of every size cover every line exactly once") {
  const std::vector<std::string> contents{
      "",
      "a",
      "a\n",
      "\n",
      "\n\n",
      "one\ntwo\nthree",
      "one\r\ntwo\r\n\r\nfour\r\n",
      "a rather long line that lies in no slot\nb\n\nanother one that is long enough\nx"};
  for (const auto& content : contents) {
    testing_file_system files;
    files.put("/in", content);
    const auto found = find_input_files(files, "/in", true);
    REQUIRE(found);
    std::vector<std::string> expected;
    for (std::size_t at = 0; at < content.size();) {
      const auto end = std::min(content.find('\n', at), content.size());
      auto line = content.substr(at, end - at);
      if (line.ends_with('\r'))
        line.pop_back();
      expected.push_back(line);
      at = end + 1;
    }
    for (std::uint64_t split_bytes = 1; split_bytes <= content.size() + 1; ++split_bytes) {
      for (const std::size_t block_bytes : {1, 2, 3, 7, 64}) {
        for (const bool restarts : {false, true}) {
          std::vector<std::string> all;
          for (const auto& split : cut_into_splits(*found, split_bytes, true)) {
            const auto lines = read_split(files, split.to_source_split(), block_bytes, 2, restarts);
            all.insert(all.end(), lines.begin(), lines.end());
          }
          CAPTURE(content);
          CAPTURE(split_bytes);
          CAPTURE(block_bytes);
          CAPTURE(restarts);
          REQUIRE(all == expected);
        }
      }
    }
  }
}

TEST_CASE("random files come out the same whatever the sizes of splits and blocks") {
  std::mt19937_64 random(testing::seed());
  for (int round = 0; round < 60; ++round) {
    std::string content;
    std::vector<std::string> expected;
    const auto lines = random() % 40 + 1;
    for (std::uint64_t i = 0; i < lines; ++i) {
      std::string line(random() % 30, static_cast<char>('a' + random() % 26));
      content += line;
      if (i + 1 < lines || random() % 2 == 0 || line.empty())
        content += random() % 4 == 0 ? "\r\n" : "\n";
      expected.push_back(std::move(line));
    }
    testing_file_system files;
    files.put("/in", content);
    std::vector<std::string> all;
    const std::vector<file_info> found{{"/in", content.size(), 0, false}};
    for (const auto& split : cut_into_splits(found, random() % content.size() + 1, true)) {
      const auto part = read_split(files, split.to_source_split(), random() % 50 + 1,
                                   random() % 10 + 1, random() % 2 == 0);
      all.insert(all.end(), part.begin(), part.end());
    }
    REQUIRE(all == expected);
  }
}

TEST_CASE("a directory gives its files, without hidden ones, in the order of their paths") {
  testing_file_system files;
  for (const auto* path :
       {"/d/b.txt", "/d/a.txt", "/d/.hidden", "/d/_SUCCESS", "/d/sub/c.txt", "/d/.tmp/x", "/other"})
    files.put(path, "x\n");
  const auto paths = [&](const char* path, bool recursive) {
    std::vector<std::string> out;
    auto found = find_input_files(files, path, recursive);
    REQUIRE(found);
    for (const auto& file : *found)
      out.push_back(file.path);
    return out;
  };
  using names = std::vector<std::string>;

  CHECK(paths("/d", true) == names{"/d/a.txt", "/d/b.txt", "/d/sub/c.txt"});
  CHECK(paths("/d", false) == names{"/d/a.txt", "/d/b.txt"});
  CHECK(paths("/d/.hidden", true) == names{"/d/.hidden"});
  CHECK(paths("/d/*.txt", true) == names{"/d/a.txt", "/d/b.txt"});
  CHECK(paths("/d/[b-z].txt", true) == names{"/d/b.txt"});
  CHECK(paths("/*/**/?.txt", true) == names{"/d/a.txt", "/d/b.txt", "/d/sub/c.txt"});
  CHECK(paths("/d/.h*", true) == names{"/d/.hidden"});
}

TEST_CASE("a glob matches as the shell's does") {
  CHECK(matches_glob("*", ""));
  CHECK(matches_glob("a*c", "abbc"));
  CHECK_FALSE(matches_glob("a*c", "abb"));
  CHECK(matches_glob("[!a]b", "cb"));
  CHECK_FALSE(matches_glob("[!a]b", "ab"));
  CHECK(matches_glob("part-??.csv", "part-07.csv"));
  CHECK(matches_glob("[", "["));
}

TEST_CASE("a missing input is named with what to do") {
  testing_file_system files;
  auto found = find_input_files(files, "/nowhere/in.csv", true);
  REQUIRE_FALSE(found);
  CHECK(found.error().code == errc::input_not_found);
  CHECK(found.error().message.find("/nowhere/in.csv") != std::string::npos);
  CHECK(find_input_files(files, "/nowhere/*.csv", true).error().code == errc::input_not_found);
}

TEST_CASE("a pattern that leads to no file is refused, unless files are waited for") {
  testing_file_system files;
  files.put("/d/a.txt", "x\n");
  REQUIRE(files.create_directories("/d/empty"));
  for (const auto* pattern : {"/d/*.csv", "/d/e*", "/d/**/b", "/d/[b-z].txt", "/*/.h*"}) {
    CAPTURE(pattern);
    const auto refused = find_input_files(files, pattern, true);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == errc::input_not_found);
    CHECK(refused.error().message.find(std::string("no file matches the pattern: ") + pattern) ==
          0);
    CHECK(find_input_files(files, pattern, true, empty_match::allowed)->empty());
  }
  CHECK(find_input_files(files, "/d/empty", true)->empty()); // an empty input, as its owner said
}

TEST_CASE("a link that leads to no file is named, wherever it is met") {
  const testing::scratch_directory scratch;
  const auto& in = scratch.path();
  const auto root = in + "/input";
  const auto files = make_local_file_system();
  REQUIRE(files->create_directories(root));
  const auto link = root + "/link";
  std::filesystem::create_symlink(root + "/gone", link);

  for (const auto& path : {link, root, root + "/l*", root + "/*", in + "/**", in + "/*/link"}) {
    CAPTURE(path);
    const auto refused = find_input_files(*files, path, true);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == errc::input_not_found);
    CHECK(refused.error().message.find("a link that leads to no file: " + link) !=
          std::string::npos);
  }
}

TEST_CASE("an input that may not be listed is unreadable; a storage's fault may pass") {
  testing_file_system files;
  files.put("/d/a", "x");
  error fault;
  files.intercept([&](const std::string& call, const std::string&) -> std::optional<error> {
    return call == "list" ? std::optional(fault) : std::nullopt;
  });
  fault = {file_unusable, "cannot list: /d, Permission denied"};
  CHECK(find_input_files(files, "/d", true).error().code == errc::input_unreadable);

  fault = {errc::storage_failed, "cannot list: /d, Too many open files"};
  for (const auto* path : {"/d", "/d/*"}) {
    CAPTURE(path);
    const auto found = find_input_files(files, path, true);
    REQUIRE(!found);
    CHECK(found.error().code == errc::storage_failed);
    CHECK_FALSE(found.error().has(errc::input_unreadable));
  }
  files.intercept([&](const std::string& call, const std::string&) -> std::optional<error> {
    return call == "stat" ? std::optional(fault) : std::nullopt;
  });
  for (const auto* path : {"/d", "/d/a", "/d/*"}) {
    CAPTURE(path);
    CHECK(find_input_files(files, path, true).error().code == errc::storage_failed);
  }
}

TEST_CASE("links that lead back or to each other do not make files come twice") {
  namespace fs = std::filesystem;
  const auto root = fs::temp_directory_path() / ("headrace-links-" + std::to_string(::getpid()));
  fs::create_directories(root / "loop");
  const auto files = make_local_file_system();
  REQUIRE(files->write_atomically((root / "loop/a").string(), "1\n"));
  fs::create_symlink(".", root / "loop/me");
  fs::create_symlink("../loop", root / "loop/up");
  const auto directory = (root / "loop").string();
  const auto path_of_a = directory + "/a";
  for (const auto& path : {directory, root.string(), directory + "/**", directory + "/**/a"}) {
    CAPTURE(path);
    const auto found = find_input_files(*files, path, true);
    REQUIRE_MESSAGE(found.has_value(), (found ? "" : to_string(found.error())));
    REQUIRE(found->size() == 1);
    CHECK(found->front().path == path_of_a);
  }

  fs::create_symlink("two", root / "loop/one");
  fs::create_symlink("one", root / "loop/two");
  const auto refused = find_input_files(*files, directory, true);
  REQUIRE(!refused);
  CHECK(refused.error().code == errc::input_unreadable);
  CHECK(to_string(refused.error()).find(directory + "/one") != std::string::npos);
  fs::remove_all(root);
}

TEST_CASE("what is no regular file is refused by its name, not read as empty") {
  namespace fs = std::filesystem;
  const auto root = fs::temp_directory_path() / ("headrace-pipe-" + std::to_string(::getpid()));
  fs::create_directories(root);
  const auto pipe = (root / "pipe").string();
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const auto files = make_local_file_system();
  const std::vector<std::pair<std::string, std::string>> cases{
      {pipe, pipe},
      {root.string(), pipe},
      {root.string() + "/p*", pipe},
      {"/dev/null", "/dev/null"},
      {"/proc/self/status", "/proc/self/status"}};
  for (const auto& [path, named] : cases) {
    CAPTURE(path);
    const auto found = find_input_files(*files, path, false);
    REQUIRE(!found);
    CHECK(found.error().code == errc::input_unreadable);
    CHECK(found.error().message == "not a regular file: " + named);
  }
  fs::remove_all(root);
}

TEST_CASE("a file that cannot be opened or read now may be tried again") {
  testing_file_system files;
  files.put("/in", "abc\ndef\n");
  const manual_clock clock;
  std::string failing;
  error fault{errc::storage_failed, "cannot open: /in, Too many open files"};
  files.intercept([&](const std::string& call, const std::string&) -> std::optional<error> {
    return call == failing ? std::optional(fault) : std::nullopt;
  });
  for (const auto* call : {"open", "read"}) {
    CAPTURE(call);
    failing = call;
    file_reader reader({line_type()}, lines_decoder(), {0, 1, files, clock, {}});
    REQUIRE(reader.add_split(file_split::of("/in", 0, 8).to_source_split()));
    const auto got = reader.fetch({});
    REQUIRE(!got);
    CHECK(got.error().code == errc::storage_failed);
    CHECK_FALSE(got.error().has(errc::input_unreadable));
    CHECK(got.error().message.find("/in") != std::string::npos);
  }
  failing = "open";
  fault.code = file_unusable;
  file_reader reader({line_type()}, lines_decoder(), {0, 1, files, clock, {}});
  REQUIRE(reader.add_split(file_split::of("/in", 0, 8).to_source_split()));
  CHECK(reader.fetch({}).error().code == errc::input_unreadable);
}

TEST_CASE("a file that shrank since it was found is unreadable") {
  testing_file_system files;
  files.put("/in", "abc\ndef\n");
  const manual_clock clock;
  file_reader reader({line_type()}, lines_decoder(), {0, 1, files, clock, {}});
  REQUIRE(reader.add_split(file_split::of("/in", 0, 100).to_source_split()));
  CHECK(reader.fetch({}).error().code == errc::input_unreadable);
  REQUIRE(reader.add_split(file_split::of("/gone", 0, 100).to_source_split()));
  CHECK(reader.fetch({}).error().code == errc::input_not_found);
}

TEST_CASE("the throttle gives no more rows than the rate allows") {
  testing_file_system files;
  files.put("/in", std::string(1000, '\n'));
  manual_clock clock;
  file_reading reading{line_type()};
  reading.rows_per_second = 100;
  file_reader reader(std::move(reading), lines_decoder(), {0, 1, files, clock, {}});
  REQUIRE(reader.add_split(file_split::of("/in", 0, 1000).to_source_split()));
  std::size_t rows = 0;
  for (int step = 0; step < 100; ++step) {
    auto got = reader.fetch({});
    REQUIRE((got && got->has_value()));
    rows += (*got)->rows.size();
    if ((*got)->rows.is_empty())
      CHECK((*got)->wait.count() > 0);
    clock.advance_ms(20);
  }
  CHECK(rows >= 195);
  CHECK(rows <= 200);
}

TEST_CASE("splits go to whoever asks, and the end is told when none is left") {
  testing_file_system files;
  files.put("/d/a", "1\n2\n");
  files.put("/d/b", "3\n");
  testing_enumerator_context context(files, 2);
  auto made = make_source({{"path", "/d"}})->create_enumerator(context, std::nullopt);
  REQUIRE(made);
  auto& enumerator = **made;
  REQUIRE(enumerator.start());
  context.registered = {0, 1};
  REQUIRE(enumerator.add_reader(0));
  REQUIRE(enumerator.add_reader(1));
  REQUIRE(enumerator.handle_split_request(1)); // before discovery: waits
  CHECK(context.assigned.empty());

  REQUIRE(context.discover());
  CHECK(context.assigned[1].size() == 1);
  CHECK(context.assigned[1][0].id == "/d/a@0");
  REQUIRE(enumerator.handle_split_request(0));
  CHECK(context.assigned[0][0].id == "/d/b@0");
  CHECK(context.finished.empty());
  REQUIRE(enumerator.handle_split_request(1));
  CHECK(context.finished == std::set<std::int32_t>{1});

  // Reader 0 fails: its split comes back and goes to who asks next.
  REQUIRE(enumerator.add_splits_back(context.assigned[0], 0));
  auto state = enumerator.snapshot(1);
  REQUIRE(state);
  context.assigned.clear();
  REQUIRE(enumerator.handle_split_request(0));
  CHECK(context.assigned[0][0].id == "/d/b@0");

  // What a checkpoint holds is not discovered again.
  testing_enumerator_context later(files, 2);
  auto restored = make_source({{"path", "/d"}})->create_enumerator(later, *state);
  REQUIRE(restored);
  REQUIRE((*restored)->start());
  CHECK_FALSE(later.has_call());
  REQUIRE((*restored)->handle_split_request(0));
  REQUIRE((*restored)->handle_split_request(1));
  CHECK(later.assigned[0].size() == 1);
  CHECK(later.finished == std::set<std::int32_t>{1});
}

TEST_CASE("static assignment gives split i to reader i modulo their number") {
  testing_file_system files;
  for (const auto* path : {"/d/0", "/d/1", "/d/2", "/d/3"})
    files.put(path, "x\n");
  testing_enumerator_context context(files, 2);
  auto made = make_source({{"path", "/d"}, {"source.split-assignment", "static"}})
                  ->create_enumerator(context, std::nullopt);
  REQUIRE(made);
  REQUIRE((*made)->start());
  context.registered = {0};
  REQUIRE((*made)->add_reader(0));
  REQUIRE(context.discover());
  CHECK(context.assigned[0].size() == 2);
  CHECK(context.finished == std::set<std::int32_t>{0});
  auto state = (*made)->snapshot(1);
  context.registered = {0, 1};
  REQUIRE((*made)->add_reader(1));
  REQUIRE(context.assigned[1].size() == 2);
  CHECK(context.assigned[1][0].id == "/d/1@0");
  CHECK(context.assigned[1][1].id == "/d/3@0");

  REQUIRE(state);
  testing_enumerator_context later(files, 2);
  auto restored = make_source({{"path", "/d"}, {"source.split-assignment", "static"}})
                      ->create_enumerator(later, *state);
  REQUIRE(restored);
  REQUIRE((*restored)->add_reader(0));
  REQUIRE((*restored)->add_reader(1));
  CHECK(later.assigned[0].empty());
  CHECK(later.assigned[1].size() == 2);
}

TEST_CASE("of many small files a reader gets several at once, and none too many") {
  testing_file_system files;
  for (int i = 0; i < 1'000; ++i)
    files.put("/d/" + std::to_string(i), "x\n");
  files.put("/d/x-large", std::string(3U << 20U, 'x'));
  const auto all_of = [&](const graph::option_map& more) {
    testing_enumerator_context context(files, 2);
    auto options = more;
    options.insert({"path", "/d"});
    auto made = make_source(options)->create_enumerator(context, std::nullopt);
    REQUIRE(made);
    REQUIRE((*made)->start());
    REQUIRE(context.discover());
    std::set<std::string> ids;
    std::vector<std::size_t> sizes;
    while (!context.finished.contains(0)) {
      context.assigned.clear();
      REQUIRE((*made)->handle_split_request(0));
      for (const auto& split : context.assigned[0])
        CHECK(ids.insert(split.id).second);
      if (!context.assigned[0].empty())
        sizes.push_back(context.assigned[0].size());
    }
    CHECK(ids.size() == 1'001);
    return sizes;
  };

  const auto sizes = all_of({});
  CHECK(sizes.front() == 64);
  CHECK(std::is_sorted(sizes.rbegin(), sizes.rend()));
  CHECK(sizes.back() == 1);
  CHECK(sizes.size() < 60);
  CHECK(all_of({{"rows-per-second", "10"}}).size() == 1'001);
}

TEST_CASE("an empty directory is an empty input") {
  testing_file_system files;
  REQUIRE(files.create_directories("/d"));
  testing_enumerator_context context(files, 1);
  auto made = make_source({{"path", "/d"}})->create_enumerator(context, std::nullopt);
  REQUIRE((*made)->start());
  REQUIRE((*made)->handle_split_request(0));
  REQUIRE(context.discover());
  CHECK(context.assigned.empty());
  CHECK(context.finished.contains(0));
}

TEST_CASE("a watched directory gives new files once, and no end") {
  testing_file_system files;
  files.put("/d/a", "1\n");
  testing_enumerator_context context(files, 1);
  auto source = make_source({{"path", "/d"}, {"source.monitor-interval", "1 s"}});
  CHECK(source->bounds() == graph::boundedness::unbounded);
  auto made = source->create_enumerator(context, std::nullopt);
  REQUIRE((*made)->start());
  CHECK(context.period().count() == 1000);
  REQUIRE((*made)->handle_split_request(0));
  REQUIRE(context.discover());
  REQUIRE((*made)->handle_split_request(0));
  REQUIRE(context.discover());
  CHECK(context.assigned[0].size() == 1);
  files.put("/d/b", "2\n");
  REQUIRE(context.discover());
  CHECK(context.assigned[0].size() == 2);
  CHECK(context.finished.empty());
}

TEST_CASE("who begins to watch after a restore does not read again what was read before") {
  testing_file_system files;
  files.put("/d/a", "1\n");
  testing_enumerator_context before(files, 1);
  auto once = make_source({{"path", "/d"}})->create_enumerator(before, std::nullopt);
  REQUIRE((*once)->start());
  REQUIRE((*once)->handle_split_request(0));
  REQUIRE(before.discover());
  REQUIRE(before.assigned[0].size() == 1);
  const auto state = (*once)->snapshot(1);
  REQUIRE(state);

  files.put("/d/b", "2\n");
  testing_enumerator_context after(files, 1);
  auto watching = make_source({{"path", "/d"}, {"source.monitor-interval", "1 s"}})
                      ->create_enumerator(after, *state);
  REQUIRE((*watching)->start());
  REQUIRE((*watching)->handle_split_request(0));
  REQUIRE(after.discover());
  REQUIRE(after.assigned[0].size() == 1);
  CHECK(after.assigned[0][0].id == "/d/b@0");
}

TEST_CASE("state of another path is refused") {
  testing_file_system files;
  files.put("/d/a", "1\n");
  testing_enumerator_context context(files, 1);
  auto made = make_source({{"path", "/d"}})->create_enumerator(context, std::nullopt);
  REQUIRE((*made)->start());
  REQUIRE(context.discover());
  const auto state = (*made)->snapshot(1);
  REQUIRE(state);

  struct row {
    const char* path;
    bool fits;
  };
  for (const row& each :
       {row{"/d", true}, row{"/d/", true}, row{"/", true}, row{"/d/a", true}, row{"/d/*", true},
        row{"/*/a", true}, row{"/e", false}, row{"/d/b", false}, row{"/dd", false}, row{"/", true},
        row{"/e/*", false}}) {
    CAPTURE(each.path);
    const auto restored = make_source({{"path", each.path}})->create_enumerator(context, *state);
    CHECK(restored.has_value() == each.fits);
    if (!restored)
      CHECK(restored.error().code == errc::incompatible_state);
  }
}

TEST_CASE("a watched pattern waits for its first file, one that is not watched fails") {
  testing_file_system files;
  REQUIRE(files.create_directories("/d"));
  testing_enumerator_context context(files, 1);
  auto watching = make_source({{"path", "/d/*.txt"}, {"source.monitor-interval", "1 s"}})
                      ->create_enumerator(context, std::nullopt);
  REQUIRE((*watching)->start());
  REQUIRE((*watching)->handle_split_request(0));
  REQUIRE(context.discover());
  files.put("/d/a.txt", "1\n");
  REQUIRE(context.discover());
  CHECK(context.assigned[0].size() == 1);

  auto once = make_source({{"path", "/d/*.csv"}})->create_enumerator(context, std::nullopt);
  REQUIRE((*once)->start());
  CHECK(context.discover().error().code == errc::input_not_found);
}

TEST_CASE("options are checked when the source is made") {
  const auto fails = [](graph::option_map options) {
    auto made = registry().create_source("file", options, line_type());
    REQUIRE_FALSE(made);
    return made.error();
  };
  CHECK(fails({}).code == errc::bad_option_value);
  CHECK(fails({{"path", "/d"}, {"source.split-sise", "1"}}).message.find("source.split-size") !=
        std::string::npos);
  CHECK(fails({{"path", "s3://b/k"}}).code == errc::bad_option_value);
  CHECK(fails({{"path", "/d"}, {"format", "cvs"}}).code == errc::unknown_connector);
  CHECK(fails({{"path", "/d"}, {"lines.x", "y"}}).code == errc::unknown_option);
  CHECK(make_source({{"path", "file:///d"}})->bounds() == graph::boundedness::bounded);
}

TEST_CASE("a split's state that is no such thing is an error") {
  CHECK(file_split::decode("").error().code == errc::corrupt_snapshot);
  CHECK(file_split::decode("\x07zzz").error().code == errc::unsupported_snapshot_version);
  const auto split = file_split::of("/in", 5, 9);
  CHECK(*file_split::decode(split.encode()) == split);
  const auto whole = split.encode();
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK_FALSE(file_split::decode(whole.substr(0, size)));
}

TEST_CASE(
    "files of changes are read one after the other, in the order in which they were written") {
  testing_file_system files;
  for (int i = 0; i < 12; ++i)
    files.put("/in/part-ab-0-" + std::to_string(i), "{}\n");
  auto source = make_changes_source("/in");
  testing_enumerator_context context(files, 2);
  auto enumerator = source->create_enumerator(context, std::nullopt);
  REQUIRE((*enumerator)->start());
  context.registered = {0, 1};
  REQUIRE(context.discover());
  REQUIRE((*enumerator)->handle_split_request(1));
  CHECK(context.assigned.empty()); // the other one may have something to finish
  REQUIRE((*enumerator)->handle_split_request(0));
  CHECK(context.finished == std::set<std::int32_t>{1});
  for (int i = 0; i < 12; ++i) {
    REQUIRE(context.assigned[0].size() == static_cast<std::size_t>(i) + 1);
    CHECK(context.assigned[0].back().id == "/in/part-ab-0-" + std::to_string(i) + "@0");
    REQUIRE((*enumerator)->handle_split_request(0));
  }
  CHECK(context.finished == std::set<std::int32_t>{0, 1});
  CHECK(context.assigned[1].empty());
}

TEST_CASE("after a restart files of changes wait for the one that is still read") {
  testing_file_system files;
  for (const auto* path : {"/in/part-ab-0-0", "/in/part-ab-0-1", "/in/part-ab-0-2"})
    files.put(path, "{}\n");
  auto source = make_changes_source("/in");
  testing_enumerator_context context(files, 1);
  auto before = source->create_enumerator(context, std::nullopt);
  REQUIRE((*before)->start());
  REQUIRE(context.discover());
  REQUIRE((*before)->handle_split_request(0));
  const auto state = (*before)->snapshot(1); // the first file is being read
  REQUIRE(state);

  testing_enumerator_context later(files, 3); // rescaled: reader 2 has the first file
  auto restored = source->create_enumerator(later, *state);
  REQUIRE((*restored)->start());
  for (const auto reader : {0, 1, 2})
    REQUIRE((*restored)->add_reader(reader));
  REQUIRE((*restored)->handle_split_request(1));
  REQUIRE((*restored)->handle_split_request(0));
  CHECK(later.assigned.empty());
  REQUIRE((*restored)->handle_split_request(2));
  REQUIRE(later.assigned[0].size() == 1);
  CHECK(later.assigned[0][0].id == "/in/part-ab-0-1@0");

  // All fail: the file comes back, and again nothing is given before all have asked.
  const auto back = std::exchange(later.assigned, {});
  REQUIRE((*restored)->add_splits_back(back.at(0), 0));
  REQUIRE((*restored)->add_splits_back({}, 1));
  REQUIRE((*restored)->add_splits_back({}, 2));
  REQUIRE((*restored)->handle_split_request(0));
  REQUIRE((*restored)->handle_split_request(1));
  CHECK(later.assigned.empty());
  REQUIRE((*restored)->handle_split_request(2));
  CHECK(later.assigned[0][0].id == "/in/part-ab-0-1@0");
}

TEST_CASE("files of several writers come by their times, those of one by their numbers") {
  const auto order = [](std::vector<file_info> files) {
    std::vector<std::string> out;
    for (auto& file : in_written_order(std::move(files)))
      out.push_back(file.path);
    return out;
  };
  using names = std::vector<std::string>;

  CHECK(order({{"/d/part-a-0-1", 1, 5}, {"/d/part-b-0-0", 1, 3}}) ==
        names{"/d/part-b-0-0", "/d/part-a-0-1"});
  // A restored copy of an older file does not put it behind its followers.
  CHECK(order({{"/d/part-a-0-10", 1, 4}, {"/d/part-a-0-9", 1, 9}, {"/d/part-b-0-0", 1, 6}}) ==
        names{"/d/part-b-0-0", "/d/part-a-0-9", "/d/part-a-0-10"});
  CHECK(order({{"/d/x10.json", 1, 0}, {"/d/x9.json", 1, 0}, {"/d/b", 1, 0}}) ==
        names{"/d/b", "/d/x9.json", "/d/x10.json"});
}

TEST_CASE("a job's changes are read behind those of the job that it follows") {
  namespace fs = std::filesystem;
  const testing::scratch_directory scratch;
  const auto files = make_local_file_system();
  const auto put = [&](const std::string& name, int age_s) {
    const auto path = scratch.path() + "/" + name;
    REQUIRE(files->write_atomically(path, "{}\n"));
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::seconds(age_s));
  };
  put("part-bbbbbbbb-0-0", 60);
  put("part-aaaaaaaa-0-1", 30);
  auto source = make_changes_source(scratch.path());
  testing_enumerator_context context(*files, 1);
  auto enumerator = source->create_enumerator(context, std::nullopt);
  REQUIRE((*enumerator)->start());
  REQUIRE(context.discover());
  REQUIRE((*enumerator)->handle_split_request(0));
  REQUIRE((*enumerator)->handle_split_request(0));

  REQUIRE(context.assigned[0].size() == 2);
  CHECK(context.assigned[0][0].id == scratch.path() + "/part-bbbbbbbb-0-0@0");
}

TEST_CASE("new files go to the reader that has waited longest") {
  testing_file_system files;
  REQUIRE(files.create_directories("/d"));
  testing_enumerator_context context(files, 2);
  auto watching = make_source({{"path", "/d"}, {"source.monitor-interval", "1 s"}})
                      ->create_enumerator(context, std::nullopt);
  REQUIRE((*watching)->start());
  REQUIRE(context.discover());
  for (const auto reader : {0, 1}) {
    REQUIRE((*watching)->add_reader(reader));
    REQUIRE((*watching)->handle_split_request(reader));
  }
  const std::vector<int> served{0, 1, 0, 1};
  for (std::size_t i = 0; i < served.size(); ++i) {
    files.put("/d/" + std::to_string(i), "x\n");
    context.assigned.clear();
    REQUIRE(context.discover());
    REQUIRE(context.assigned.size() == 1);
    CHECK(context.assigned.begin()->first == served[i]);
    REQUIRE((*watching)->handle_split_request(served[i]));
  }
}
} // TEST_SUITE("task/connector/file")

} // namespace headrace::task
