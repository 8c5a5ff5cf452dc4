#include "libactors/transport/frame_decoder.hpp"

#include "test/support/seed.hpp"
#include "libactors/base/random.hpp"
#include "libactors/transport/write_queue.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace headrace;
using namespace headrace::actors;

namespace {

byte_string random_text(random_source& random, std::size_t size) {
  byte_string out(size, '\0');
  for (auto& each : out) {
    each = static_cast<char>(random.next());
  }
  return out;
}

/// All bytes that a queue would write, gathered in pieces that are drawn.
byte_string written(write_queue& queue, random_source& random) {
  byte_string out;
  while (!queue.is_empty()) {
    std::array<iovec, 5> pieces{};
    const auto count = queue.gather(pieces, 1 + random.below(5'000));
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < count; ++i) {
      out.append(static_cast<const char*>(pieces[i].iov_base), pieces[i].iov_len);
      bytes += pieces[i].iov_len;
    }
    const auto partly = random.below(4) == 0 ? random.below(bytes + 1) : bytes;
    out.resize(out.size() - (bytes - partly));
    queue.on_written(partly);
  }
  return out;
}

byte_string encoded(const outgoing_frame& frame) {
  write_queue queue;
  queue.push(frame);
  return written(queue, *make_seeded_random(1));
}

outgoing_frame frame_of(std::size_t header_bytes, std::size_t body_bytes) {
  outgoing_frame out;
  out.kind = frame_kind::envelope;
  out.header = byte_string(header_bytes, 'h');
  if (body_bytes > 0) {
    auto held = std::make_shared<byte_string>(body_bytes, 'b');
    out.body.push_back({.view = *held, .owner = held});
  }
  return out;
}

/// Feeds all, draining after each part. @returns the frames, or the error
result<std::vector<incoming_frame>> decode_all(frame_decoder& decoder, byte_view bytes,
                                               random_source& random) {
  std::vector<incoming_frame> out;
  while (true) {
    HEADRACE_TRY(auto next, decoder.next());
    if (next) {
      out.push_back(std::move(*next));
    } else if (bytes.empty()) {
      return out;
    } else {
      const auto part = bytes.substr(0, 1 + random.below(random.below(3) == 0 ? 20 : 100'000));
      bytes.remove_prefix(decoder.feed(part));
    }
  }
}

} // namespace

TEST_SUITE("actors/transport/frame_decoder") {

TEST_CASE("what is missing is the rest of a body, else a byte") {
  frame_decoder decoder(frame_limits{});
  const auto bytes = encoded(frame_of(10, 5'000));
  const auto begin = bytes.size() - 5'000; // of the body
  CHECK(decoder.missing_bytes() == 1);
  CHECK(decoder.feed(byte_view(bytes).substr(0, begin - 1)) == begin - 1);
  CHECK_FALSE(decoder.next()->has_value());
  CHECK(decoder.missing_bytes() == 1);
  CHECK(decoder.feed(byte_view(bytes).substr(begin - 1, 1'001)) == 1'001);
  CHECK_FALSE(decoder.next()->has_value());
  CHECK(decoder.missing_bytes() == 4'000);
  CHECK(decoder.feed(byte_view(bytes).substr(begin + 1'000)) == 4'000);
  CHECK(decoder.next()->has_value());
  CHECK(decoder.missing_bytes() == 1);
}

TEST_CASE("a queue goes on where another one stopped") {
  const auto random = make_seeded_random(headrace::testing::seed());
  const std::vector<outgoing_frame> frames{frame_of(10, 50), frame_of(3, 0), frame_of(0, 7)};
  write_queue first;
  first.push(frames[0]);
  first.push(frames[1]);
  first.on_written(7); // as a caller's thread that could not write all
  write_queue second;
  second.append(first);
  CHECK(first.is_empty());
  first.push(frames[2]);
  second.append(first);
  CHECK(first.is_empty());

  byte_string all;
  for (const auto& frame : frames)
    all += encoded(frame);
  CHECK(written(second, *random) == all.substr(7));
}

TEST_CASE("frames come out as they went in, however the bytes are cut") {
  const auto seed = headrace::testing::seed();
  for (int run = 0; run < 200; ++run) {
    const auto random = make_seeded_random(seed + static_cast<std::uint64_t>(run));
    write_queue queue;
    std::vector<outgoing_frame> sent;
    for (std::uint64_t i = random->below(20); i > 0; --i) {
      outgoing_frame frame;
      frame.kind = static_cast<frame_kind>(random->below(0x10000));
      frame.header = random_text(*random, random->below(200));
      for (std::uint64_t pieces = random->below(4); pieces > 0; --pieces) {
        const auto size = random->below(4) == 0 ? random->below(200'000) : random->below(300);
        auto held = std::make_shared<byte_string>(random_text(*random, size));
        frame.body.push_back({.view = *held, .owner = held});
      }
      sent.push_back(frame);
      queue.push(frame);
    }
    frame_decoder decoder{frame_limits()};

    const auto got = decode_all(decoder, written(queue, *random), *random);

    REQUIRE(got);
    REQUIRE(got->size() == sent.size());
    for (std::size_t i = 0; i < sent.size(); ++i) {
      byte_string body;
      for (const auto& piece : sent[i].body) {
        body += piece.view;
      }
      CHECK((*got)[i].kind == sent[i].kind);
      CHECK((*got)[i].header == sent[i].header);
      CHECK((*got)[i].body.view() == body);
      CHECK(reinterpret_cast<std::uintptr_t>((*got)[i].body.view().data()) % 64 == 0);
    }
  }
}

TEST_CASE("bytes of something else are no frame") {
  struct row {
    byte_view bytes;
    const char* words;
    bool is_tls;
  };
  for (const auto& [bytes, words, is_tls] :
       {row{"GET / HTTP/1.1\r\nHost: x", "rest.port", false},
        row{"HTTP/1.1 400 Bad Request", "jobmanager.rpc.port", false},
        row{"\x16\x03\x01\x02", "security.ssl.internal.enabled", true},
        row{"\x15\x03\x03\x01", "security.ssl.internal.enabled", true},
        row{"\x16\x02\x01\x02", "no frame", false}, row{"HRF2", "no frame", false}}) {
    frame_decoder decoder(unauthenticated_limits());
    decoder.feed(bytes);
    const auto next = decoder.next();
    REQUIRE(!next);
    CHECK(next.error().code == errc::malformed_message);
    CHECK(next.error().message.find(words) != std::string::npos);
    CHECK(decoder.has_tls() == is_tls);
  }
}

TEST_CASE("a length beyond the limits is an error before anything is reserved") {
  struct sizes {
    std::uint32_t header;
    std::uint32_t body;
  };
  for (const auto& each : {sizes{0xffffffff, 0}, sizes{0, 0xffffffff}, sizes{4'097, 0},
                           sizes{0, 4'097}, sizes{2'049, 2'048}, sizes{0xf0000000, 0xf0000000}}) {
    frame_decoder decoder(unauthenticated_limits());
    byte_string bytes(frame_prefix::size_bytes, '\0');
    frame_prefix{.kind = frame_kind::hello, .header_bytes = each.header, .body_bytes = each.body}
        .encode(bytes.data());
    decoder.feed(bytes);

    const auto next = decoder.next();

    REQUIRE(!next);
    CHECK(next.error().code == errc::message_too_large);
    CHECK(decoder.reserved_bytes() < 10'000);
  }
}

TEST_CASE("a body's buffer is little ahead of the bytes that have come") {
  frame_decoder decoder{frame_limits()};
  const auto whole = encoded(frame_of(10, 20'000'000));
  byte_view left(whole);
  left.remove_prefix(decoder.feed(left.substr(0, 100)));
  std::size_t reserved_max = 0;
  while (!left.empty()) {
    const auto next = decoder.next();
    REQUIRE(next);
    REQUIRE(!*next);
    left.remove_prefix(decoder.feed(left.substr(0, 100'000)));
    const auto came = whole.size() - left.size();
    reserved_max = std::max(reserved_max, decoder.reserved_bytes());
    CHECK(decoder.reserved_bytes() <=
          2 * came + limits::frame_body_ahead_bytes_max + (std::size_t{128} << 10U));
  }
  const auto next = decoder.next();
  REQUIRE(next);
  REQUIRE(*next);
  CHECK((*next)->body.size() == 20'000'000);
}

TEST_CASE("of a stream of large bodies little is copied, and small frames are read in bulk") {
  frame_decoder decoder{frame_limits()};
  const auto ahead = [&] {
    std::size_t out = 0;
    for (const auto& space : decoder.room())
      out += space.size();
    return out;
  };
  const auto feed = [&](const byte_string& frame) {
    for (byte_view left(frame); !left.empty();) {
      left.remove_prefix(decoder.feed(left));
      REQUIRE(decoder.next());
    }
  };
  const auto at_first = ahead();
  CHECK(at_first >= 50'000);
  feed(encoded(frame_of(4, 300'000)));
  CHECK(ahead() <= 4'096);

  byte_view large; // what is left of a body goes to its place, with little behind
  const auto next = encoded(frame_of(4, 300'000));
  large = next;
  large.remove_prefix(decoder.feed(large));
  CHECK(!*decoder.next());
  CHECK(ahead() <= large.size() + 4'096);
  while (!large.empty()) {
    large.remove_prefix(decoder.feed(large));
    REQUIRE(decoder.next());
  }

  feed(encoded(frame_of(4, 100)));
  CHECK(ahead() == at_first);
}

TEST_CASE("limits may rise between two frames that came together") {
  frame_decoder decoder(unauthenticated_limits());
  const auto both = encoded(frame_of(100, 0)) + encoded(frame_of(5'000, 100'000));
  byte_view left(both);
  left.remove_prefix(decoder.feed(left));
  auto first = decoder.next();
  REQUIRE(first);
  REQUIRE(*first);

  decoder.set_limits({});
  while (!left.empty()) {
    REQUIRE(decoder.next());
    left.remove_prefix(decoder.feed(left));
  }

  auto second = decoder.next();
  REQUIRE(second);
  REQUIRE(*second);
  CHECK((*second)->header.size() == 5'000);
  CHECK((*second)->body.size() == 100'000);
}

} // TEST_SUITE("actors/transport/frame_decoder")
