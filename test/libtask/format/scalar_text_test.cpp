#include "libtask/format/scalar_text.hpp"

#include "test/libtask/format/format_rows.hpp"
#include "test/support/seed.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

namespace headrace::task {
namespace {

using graph::logical_type;
using testing::random_engine;

template <class T>
std::optional<T> taken(bool is_read, graph::column_builder& out) {
  REQUIRE(out.size() == (is_read ? 1 : 0));
  const auto values = out.finish();
  return is_read ? std::optional(values->template values<T>()[0]) : std::nullopt;
}

std::string random_digits(random_engine& random, std::size_t count_max) {
  std::string out;
  for (auto count = random() % (count_max + 1); count > 0; --count)
    out += static_cast<char>('0' + random() % 10);
  return out;
}

/// A time of one of few minutes, of which some are no times.
std::string random_time(random_engine& random) {
  static const std::vector<std::string> minutes{
      "2024-02-29 12:34", "2024-02-29T12:34", "1969-12-31 23:59",   "2023-02-29 12:34",
      "0001-01-01 00:00", "9999-12-31 23:59", "2024-02-29 12:3",    "+2024-02-29 12:3",
      "12024-02-29 1:34", "2024-02-29",       std::string(16, '\0')};
  auto out = minutes[random() % minutes.size()];
  if (random() % 16 != 0)
    out += ":" + std::to_string(random() % 7) + std::to_string(random() % 10);
  if (random() % 2 == 0)
    out += "." + random_digits(random, 4);
  if (random() % 8 == 0)
    out += random() % 2 == 0 ? "Z" : "+01:00";
  if (random() % 8 == 0)
    out[random() % out.size()] = "0:. Z-"[random() % 6];
  return random() % 16 == 0 ? " " + out + " " : out;
}

template <class T>
void check_digits(random_engine& random, const logical_type& type) {
  scalar_reader reader(type);
  graph::column_builder out(type);
  int read = 0;
  for (int round = 0; round < 20000; ++round) {
    const auto digits = (random() % 4 == 0 ? "-" : "") + random_digits(random, 20);
    const std::string behind(1, ",}] \"x/:\xff\x80\t\n"[random() % 12]);
    const auto text = digits + behind + std::string(random() % 2 == 0 ? 20 : 0, '1');
    CAPTURE(text);
    const auto* end = reader.append_digits(text.data(), text.data() + text.size(), out);
    const auto found = taken<T>(end != nullptr, out);
    if (end == nullptr)
      continue;
    ++read;
    REQUIRE(end == text.data() + digits.size());
    const bool is_read = reader.append(digits, false, out);
    REQUIRE(found == taken<T>(is_read, out));
  }
  CHECK(read > 1000); // or it says little
}

} // namespace

TEST_SUITE("task/format/scalar_text") {
TEST_CASE("times are read the same whatever was read before") {
  random_engine random(testing::seed());
  const auto type = logical_type::timestamp(3);
  scalar_reader reader(type);
  graph::column_builder out(type);
  int read = 0;
  for (int round = 0; round < 50000; ++round) {
    const auto text = random_time(random);
    CAPTURE(text);
    const auto found = taken<std::int64_t>(reader.append(text, false, out), out);
    scalar_reader fresh(type);
    REQUIRE(found == taken<std::int64_t>(fresh.append(text, false, out), out));
    read += found ? 1 : 0;
  }
  CHECK(read > 5000);
}

TEST_CASE("digits whose end is not known are read as those whose end is") {
  random_engine random(testing::seed());
  check_digits<std::int64_t>(random, logical_type::bigint());
  check_digits<std::int32_t>(random, logical_type::integer());
}

TEST_CASE("numbers that go on behind their digits are left alone") {
  const auto type = logical_type::bigint();
  const scalar_reader reader(type);
  graph::column_builder out(type);
  for (const std::string text :
       {"1.5", "1e3", "1E3", "1-2", "1+2", "-", "+1", "x", "1234567812345678"}) {
    CAPTURE(text);
    const auto padded = text + std::string(20, ' ');
    CHECK(reader.append_digits(padded.data(), padded.data() + padded.size(), out) == nullptr);
    CHECK(out.size() == 0);
  }
}
} // TEST_SUITE("task/format/scalar_text")

} // namespace headrace::task
