#include "libstate/channel/channel_state.hpp"

#include "test/support/batches.hpp"
#include "test/support/testing_file_system.hpp"
#include "libstate/checkpoint/checkpoint_storage.hpp"

#include <doctest/doctest.h>

#include <numeric>

using namespace headrace;
using namespace headrace::state;
using graph::stream_element;
using graph::watermark;
using headrace::testing::number_type;
using headrace::testing::numbers;
using headrace::testing::numbers_of;
using headrace::testing::word_type;
using headrace::testing::words;
using headrace::testing::words_of;

namespace {

constexpr channel_place taken_in{{1, 1}, false, 3, 0};
constexpr channel_place sent_out{{1, 2}, true, 0, 5};

std::vector<std::int64_t> counting(std::int64_t count) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(count));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

state_segment write(file_system& files, const std::vector<channel_content>& channels) {
  const auto storage = make_file_checkpoint_storage(files, "/c", {});
  auto target = storage->open("/c/chk-1", {{}, 0, 0, 0});
  REQUIRE(target);
  auto* out = (*target)->output().value();
  REQUIRE(out->append("before")); // a segment may lie anywhere in a file
  auto segment = write_channel_state(**target, channels);
  REQUIRE(segment);
  REQUIRE(out->append("behind"));
  REQUIRE((*target)->finish());
  return *segment;
}

std::vector<channel_content> some_channels() {
  return {{taken_in,
           number_type(),
           {numbers(counting(100'000)), watermark{7}, numbers({1, 2}), watermark{9}}},
          {sent_out, word_type(), {words({{"a", 1}, {"b", 2}})}},
          {{{1, 1}, false, 4, 0}, number_type(), {numbers({5})}}};
}

} // namespace

TEST_SUITE("state/channel/channel_state") {
TEST_CASE("what was in flight comes back in order, channel by channel") {
  headrace::testing::testing_file_system files;
  const auto segment = write(files, some_channels());

  auto reader = channel_state_reader::open(files, segment);
  REQUIRE(reader);
  REQUIRE(reader->size() == 3);
  CHECK(reader->place(0) == taken_in);
  CHECK(reader->place(1) == sent_out);
  CHECK(reader->place(2).producer == 4);
  CHECK(*reader->type(1) == *word_type());

  const auto first = reader->read(0);
  REQUIRE(first);
  REQUIRE(first->size() == 4);
  CHECK(numbers_of(std::get<graph::record_batch>((*first)[0])) == counting(100'000));
  CHECK(std::get<watermark>((*first)[1]).time_ms == 7);
  CHECK(numbers_of(std::get<graph::record_batch>((*first)[2])) == std::vector<std::int64_t>{1, 2});
  CHECK(std::get<watermark>((*first)[3]).time_ms == 9);
  const auto second = reader->read(1);
  REQUIRE(second);
  CHECK(words_of(std::get<graph::record_batch>(second->at(0))) ==
        headrace::testing::word_rows{{"a", 1}, {"b", 2}});
  CHECK(reader->read(2)->size() == 1);
}

TEST_CASE("rows are compressed") {
  headrace::testing::testing_file_system files;
  const auto segment =
      write(files, {{taken_in, number_type(), {numbers(std::vector<std::int64_t>(100'000, 1))}}});
  CHECK(segment.size_bytes < 8'000);
}

TEST_CASE("any changed or missing byte is noticed, with the file named") {
  headrace::testing::testing_file_system files;
  const auto segment = write(
      files, {{taken_in, number_type(), {numbers({1, 2, 3}), watermark{4}}}, some_channels()[1]});
  const auto whole = files.at(segment.path);
  const auto read_all = [&]() -> status {
    HEADRACE_TRY(auto reader, channel_state_reader::open(files, segment));
    for (std::size_t i = 0; i < reader.size(); ++i) {
      HEADRACE_TRY(const auto elements, reader.read(i));
      CHECK_FALSE(elements.empty());
    }
    return {};
  };
  REQUIRE(read_all());

  for (auto at = segment.offset; at < segment.offset + segment.size_bytes; ++at) {
    CAPTURE(at);
    auto changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x20);
    files.put(segment.path, changed);
    const auto got = read_all();
    REQUIRE_FALSE(got);
    CHECK((got.error().code == errc::corrupt_snapshot ||
           got.error().code == errc::unsupported_snapshot_version));
    CHECK(got.error().message.find(segment.path) != std::string::npos);
  }
  for (std::size_t size = 0; size < segment.offset + segment.size_bytes; ++size) {
    files.put(segment.path, whole.substr(0, size));
    REQUIRE_FALSE(read_all());
  }
}

TEST_CASE("in-flight data of another checkpoint is not taken for that of this one") {
  headrace::testing::testing_file_system files;
  headrace::testing::testing_file_system others;
  const auto segment = write(files, {{taken_in, number_type(), {numbers({1, 2, 3})}}});
  const auto other = write(others, {{taken_in, number_type(), {numbers({4, 5, 6})}}});
  REQUIRE(other.path == segment.path);
  REQUIRE(other.size_bytes == segment.size_bytes);
  files.put(segment.path, others.at(other.path));

  const auto opened = channel_state_reader::open(files, segment);

  REQUIRE_FALSE(opened);
  CHECK(opened.error().code == errc::corrupt_snapshot);
  CHECK(opened.error().message ==
        "corrupt snapshot: file is not the one that the manifest was written with, in " +
            segment.path);
}
} // TEST_SUITE("state/channel/channel_state")
