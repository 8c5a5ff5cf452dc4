#include "libactors/message/message.hpp"

#include "test/support/seed.hpp"
#include "libactors/base/limits.hpp"
#include "libactors/base/random.hpp"
#include "schema/error.capnp.h"
#include "schema/ids.capnp.h"

#include <doctest/doctest.h>

#include <cstring>

using namespace headrace;

namespace {

/// A message with text, nested structs and a list of structs, as bytes.
std::string sample_bytes() {
  message_builder<schema::Error> made;
  made->setCode(3010);
  made->setMessage("job failed");
  auto causes = made->initCauses(3);
  for (unsigned i = 0; i < 3; ++i) {
    causes[i].setCode(static_cast<std::uint16_t>(6000 + i));
    causes[i].setMessage("disk is full");
    causes[i].initCauses(1)[0].setMessage("deeper");
  }
  const auto built = made.finish();
  const auto bytes = built.untyped().words().asBytes();
  return {reinterpret_cast<const char*>(bytes.begin()), bytes.size()};
}

/// Reads all of an error; throws where its words are bad.
std::size_t read_all(schema::Error::Reader in, int depth = 0) {
  std::size_t seen = in.getMessage().size() + in.getCode();
  if (depth < 32) {
    for (const auto cause : in.getCauses()) {
      seen += read_all(cause, depth + 1);
    }
  }
  return seen;
}

std::string words_of(std::initializer_list<std::uint64_t> words) {
  std::string out;
  for (const auto word : words) {
    char raw[8];
    std::memcpy(raw, &word, 8);
    out.append(raw, 8);
  }
  return out;
}

} // namespace

TEST_SUITE("actors/message/message") {

TEST_CASE("a message is read as it was built, and shared by copying") {
  message_builder<schema::ExecutionAttempt> made;
  made->setSubtask(7);
  const auto built = made.finish();
  const auto copy = built;

  CHECK(copy.view()->getSubtask() == 7);
  CHECK(copy.untyped().words().begin() == built.untyped().words().begin());
  CHECK(copy.untyped().type_id() == type_id_of<schema::ExecutionAttempt>());
  CHECK(message<schema::ExecutionAttempt>().is_empty());
}

TEST_CASE("a whole message from outside is taken, with its words unchanged") {
  const auto raw = sample_bytes();

  const auto taken = validate_message(type_id_of<schema::Error>(), raw);

  REQUIRE(taken);
  CHECK(taken->size_bytes() == raw.size());
  const message<schema::Error> typed(*taken);
  const auto view = typed.view();
  CHECK(view->getCauses()[2].getMessage() == "disk is full");
}

TEST_CASE("a getter may be called as often as one likes") {
  const auto taken = validate_message(type_id_of<schema::Error>(), sample_bytes());
  REQUIRE(taken);
  const message<schema::Error> typed(*taken);
  const auto view = typed.view();

  std::size_t seen = 0;
  for (int i = 0; i < 100'000; ++i) {
    seen += view->getMessage().size();
  }

  CHECK(seen == 1'000'000);
}

TEST_CASE("an empty message, a part of a word and one beyond the limit are refused") {
  CHECK(validate_message(1, "").error().code == errc::malformed_message);
  CHECK(validate_message(1, sample_bytes().substr(1)).error().code == errc::malformed_message);
  const std::string huge(limits::message_bytes_max + 8, '\0');
  CHECK(validate_message(1, huge).error().code == errc::message_too_large);
  CHECK(validate_message(1, sample_bytes() + std::string(8, '\0')).error().code ==
        errc::malformed_message);
}

TEST_CASE("a message cut at any word is refused") {
  const auto raw = sample_bytes();
  for (std::size_t size = 0; size < raw.size(); size += 8) {
    CAPTURE(size);
    CHECK(!validate_message(1, raw.substr(0, size)));
  }
}

TEST_CASE("pointers that make a small message cost much are refused") {
  // One segment of n words; then the root.
  SUBCASE("a list of half a billion structs without content") {
    // Root: struct of one pointer; the pointer: composite list, tag says 2^29-1 elements of 0
    // words.
    CHECK(!validate_message(1, words_of({0x0000000300000000ULL, 0x0001000000000000ULL,
                                         0x0000000700000001ULL, 0x00000000'7ffffffcULL})));
  }
  SUBCASE("a struct whose pointer leads to itself") {
    // Root: struct of one pointer at offset -1, which is the root pointer again.
    CHECK(!validate_message(1, words_of({0x0000000100000000ULL, 0x00010000'fffffffcULL})));
  }
  SUBCASE("a far pointer to a segment that is not there") {
    CHECK(!validate_message(1, words_of({0x0000000100000000ULL, 0x00000005'00000002ULL})));
  }
  SUBCASE("a capability") {
    CHECK(!validate_message(
        1, words_of({0x0000000200000000ULL, 0x00010000'00000000ULL, 0x00000000'00000003ULL})));
  }
  SUBCASE("no root") { CHECK(!validate_message(1, words_of({0x0000000100000000ULL, 0}))); }
  SUBCASE("more segments than bytes") {
    CHECK(!validate_message(1, words_of({0x00000001'ffffffffULL})));
  }
}

TEST_CASE("nesting beyond the limit is refused") {
  message_builder<schema::Error> made;
  auto innermost = *made;
  for (int depth = 0; depth < limits::message_nesting_max; ++depth) {
    innermost = innermost.initCauses(1)[0];
  }
  const auto built = made.finish();
  const auto bytes = built.untyped().words().asBytes();

  CHECK(validate_message(1, {reinterpret_cast<const char*>(bytes.begin()), bytes.size()})
            .error()
            .code == errc::malformed_message);
}

TEST_CASE("flipped and cut bytes make an error or a message that can be read, never a crash") {
  const auto random = make_seeded_random(headrace::testing::seed());
  const auto whole = sample_bytes();
  int taken_count = 0;
  for (int i = 0; i < 20'000; ++i) {
    auto raw = whole;
    const auto flips = 1 + random->below(4);
    for (std::uint64_t flip = 0; flip < flips; ++flip) {
      auto& byte = raw[random->below(raw.size())];
      byte = static_cast<char>(byte ^ (1 << random->below(8)));
    }
    if (random->below(4) == 0) {
      raw.resize(random->below(raw.size() / 8 + 1) * 8);
    }
    const auto taken = validate_message(type_id_of<schema::Error>(), raw);
    if (taken) {
      ++taken_count;
      const auto read = checked_read([&]() -> result<std::size_t> {
        const message<schema::Error> typed(*taken);
        const auto view = typed.view();
        return read_all(*view);
      });
      CHECK((read || read.error().code == errc::malformed_message));
    } else {
      CHECK(taken.error().code == errc::malformed_message);
    }
  }
  CHECK(taken_count > 0);
}

} // TEST_SUITE("actors/message/message")
