#include "test/libstate/state_fixture.hpp"
#include "test/support/batches.hpp"
#include "test/support/seed.hpp"
#include "libstate/snapshot/snapshot_reader.hpp"
#include "libstate/snapshot/snapshot_writer.hpp"
#include "libactors/base/random.hpp"

#include <doctest/doctest.h>

#include <map>

namespace headrace::state {
namespace {

using namespace headrace::testing;

struct stored_row {
  std::uint32_t state;
  std::int64_t space;
  std::string key;
  std::string value;
  friend bool operator==(const stored_row&, const stored_row&) = default;
};

class collecting_visitor final : public snapshot_visitor {
public:
  status on_row(const snapshot_row& row) override {
    rows.push_back({row.state, row.space, byte_string(row.key), byte_string(row.value)});
    return {};
  }
  std::vector<stored_row> rows;
};

struct snapshot_fixture : state_fixture {
  std::map<std::int32_t, std::vector<stored_row>> written;

  snapshot_header header() {
    snapshot_header out;
    out.key_type = *number_type();
    out.groups = {10, 40};
    out.states = {sums(), texts()};
    return out;
  }
  /// Some groups empty, some large, over several blocks.
  state_segment write(const std::string& path, std::size_t rows_max) {
    const auto random = make_seeded_random(seed());
    testing_target target(files, path);
    auto& out = *take(target.output());
    check_ok(out.append("something before"));
    snapshot_writer writer(out, header());
    for (std::int32_t group = 12; group < 38; group += 2) {
      check_ok(writer.begin_group(group));
      for (std::size_t i = random->below(rows_max); i > 0; --i) {
        const auto state = static_cast<std::uint32_t>(random->below(2));
        stored_row row{state, static_cast<std::int64_t>(random->below(3)) - 1, "", ""};
        const auto key = random->next();
        row.key.assign(reinterpret_cast<const char*>(&key), 8);
        if (state == 0)
          row.value.assign(reinterpret_cast<const char*>(&key), 8);
        else
          row.value.assign(random->below(2000), static_cast<char>('a' + random->below(26)));
        snapshot_row view;
        view.state = row.state;
        view.space = row.space;
        view.key = row.key;
        view.value = row.value;
        check_ok(writer.add(view));
        written[group].push_back(std::move(row));
      }
    }
    auto segment = take(writer.finish());
    check_ok(target.finish());
    return segment;
  }
  result<std::vector<stored_row>> read_all(const state_segment& segment) {
    HEADRACE_TRY(const auto reader, snapshot_reader::open(files, segment));
    collecting_visitor visitor;
    for (std::int32_t group = 0; group < 128; ++group)
      HEADRACE_CHECK(reader->read_group(group, visitor));
    return std::move(visitor.rows);
  }
};

} // namespace

TEST_SUITE("state/snapshot") {
TEST_CASE_FIXTURE(snapshot_fixture, "each key group is read by itself") {
  const auto segment = write("s", 2000);

  const auto reader = take(snapshot_reader::open(files, segment));

  CHECK(reader->header().states == header().states);
  for (std::int32_t group : {36, 12, 13, 20, 21, 22, 0, 127, 39}) {
    collecting_visitor visitor;
    check_ok(reader->read_group(group, visitor));
    CHECK(visitor.rows == written[group]);
  }
}

TEST_CASE_FIXTURE(snapshot_fixture, "an empty snapshot is one") {
  testing_target target(files, "s");
  snapshot_writer writer(*take(target.output()), header());
  const auto segment = take(writer.finish());
  check_ok(target.finish());
  CHECK(take(read_all(segment)).empty());
}

TEST_CASE_FIXTURE(snapshot_fixture, "a changed byte anywhere is noticed and the path named") {
  const auto segment = write("s", 12);
  const auto good = files.at("s");
  for (std::size_t i = static_cast<std::size_t>(segment.offset); i < good.size(); ++i) {
    auto bad = good;
    bad[i] = static_cast<char>(bad[i] ^ (1 << (i % 8)));
    files.put("s", bad);
    const auto rows = read_all(segment);
    REQUIRE_MESSAGE(!rows.has_value(), "offset ", i);
    REQUIRE((rows.error().code == errc::corrupt_snapshot ||
             rows.error().code == errc::unsupported_snapshot_version));
    REQUIRE(rows.error().message.ends_with(", in s"));
  }
}

TEST_CASE_FIXTURE(snapshot_fixture, "a cut off file is noticed, wherever it ends") {
  const auto segment = write("s", 12);
  const auto good = files.at("s");
  for (std::size_t size = 0; size < good.size(); ++size) {
    files.put("s", good.substr(0, size));
    REQUIRE(read_all(segment).error().code == errc::corrupt_snapshot);
    auto shorter = segment;
    if (size > segment.offset) {
      shorter.size_bytes = size - segment.offset;
      REQUIRE(read_all(shorter).error().code == errc::corrupt_snapshot);
    }
  }
}

TEST_CASE_FIXTURE(snapshot_fixture, "a corrupt block is named by number and offset") {
  const auto segment = write("s", 2000);
  auto bad = files.at("s");
  bad[bad.size() / 2] = static_cast<char>(~bad[bad.size() / 2]);
  files.put("s", bad);

  const auto rows = read_all(segment);
  REQUIRE(!rows.has_value());
  CHECK(rows.error().code == errc::corrupt_snapshot);
  CHECK(rows.error().message.find("checksum does not fit, block ") != std::string::npos);
  CHECK(rows.error().message.find(" at offset ") != std::string::npos);
}

TEST_CASE_FIXTURE(snapshot_fixture, "a missing file is a fault of the storage, which may pass") {
  const auto segment = write("s", 10);
  const auto whole = files.at("s");
  REQUIRE(files.remove("s"));

  const auto rows = read_all(segment);
  REQUIRE(!rows.has_value());
  CHECK(rows.error().code == errc::storage_failed);
  CHECK_FALSE(rows.error().has(errc::corrupt_snapshot));
  CHECK(rows.error().message == "a file of the checkpoint is missing: s");
  files.put("s", whole);
  CHECK(read_all(segment).has_value());
}

TEST_CASE_FIXTURE(snapshot_fixture, "another version is refused in words that say both") {
  const auto segment = write("s", 12);
  auto bad = files.at("s");
  bad[static_cast<std::size_t>(segment.offset) + 8] = 7;
  files.put("s", bad);

  const auto rows = read_all(segment);
  REQUIRE(!rows.has_value());
  CHECK(rows.error().code == errc::unsupported_snapshot_version);
  CHECK(rows.error().message == "unsupported snapshot version: 7 instead of 1 to 2, in s");
}

TEST_CASE_FIXTURE(snapshot_fixture, "an error of the visitor ends the reading") {
  class failing_visitor final : public snapshot_visitor {
  public:
    status on_row(const snapshot_row&) override {
      ++calls;
      return error(errc::storage_full, "enough");
    }
    int calls = 0;
  };
  const auto segment = write("s", 2000);
  const auto reader = take(snapshot_reader::open(files, segment));
  failing_visitor visitor;
  CHECK(reader->read_group(20, visitor).error().code == errc::storage_full);
  CHECK(visitor.calls == 1);
}
} // TEST_SUITE("state/snapshot")

} // namespace headrace::state
