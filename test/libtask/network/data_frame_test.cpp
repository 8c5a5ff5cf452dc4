#include "libtask/network/data_frame.hpp"

#include "test/support/batches.hpp"
#include "test/support/random_batch.hpp"
#include "test/support/seed.hpp"
#include "libactors/message/message.hpp"
#include "schema/data.capnp.h"

#include <doctest/doctest.h>

#include <cstring>
#include <functional>

namespace headrace::task {

using namespace headrace::testing;

namespace {

const partition_id the_partition{{1, 2}, {{3, 4}, 5, 6}};

/// The body as a receiver has it.
std::shared_ptr<graph::buffer> body_of(const encoded_frame& frame) {
  auto out = graph::buffer::allocate(frame.body_bytes);
  std::size_t at = 0;
  for (const auto& part : frame.body) {
    std::memcpy(out->mutable_data() + at, part.view.data(), part.view.size());
    at += part.view.size();
  }
  CHECK(at == frame.body_bytes);
  return out;
}

result<data_frame> decoded(byte_view header, const graph::buffer_ptr& body) {
  return decode_frame(header, {body->as<char>(), body->size_bytes()}, body);
}

wire_element wire_of(graph::stream_element element) {
  auto out = encode_element(element, {}, nullptr);
  REQUIRE(out);
  return std::move(out->element);
}

data_frame sample() {
  data_frame frame;
  frame.requests.push_back({1, the_partition, 7, 1000});
  frame.refusals.push_back({2, error(errc::partition_not_found, "not here")});
  frame.credits.push_back({3, 64});
  frame.abandoned.push_back(4);
  frame.pieces.push_back({5, {wire_of(numbers({1, 2, 3})), wire_of(graph::watermark{8})}, false});
  frame.pieces.push_back({6, {wire_of(words({{"a", 1}, {"a long word, not inline", 2}}))}, true});
  return frame;
}

} // namespace

TEST_SUITE("task/network/data_frame") {

TEST_CASE("a frame comes back from its header and body") {
  const auto frame = sample();

  const auto made = encode_frame(frame);
  const auto back = decoded(made.header, body_of(made));

  REQUIRE(back);
  REQUIRE(back->requests.size() == 1);
  CHECK(back->requests[0].partition == the_partition);
  CHECK(back->requests[0].subpartition == 7);
  CHECK(back->requests[0].credit_bytes == 1000);
  REQUIRE(back->refusals.size() == 1);
  CHECK(back->refusals[0].route == 2);
  CHECK(back->refusals[0].reason == frame.refusals[0].reason);
  REQUIRE(back->credits.size() == 1);
  CHECK(back->credits[0].bytes == 64);
  CHECK(back->abandoned == std::vector<route_id>{4});
  REQUIRE(back->pieces.size() == 2);
  CHECK(!back->pieces[0].closes);
  CHECK(back->pieces[1].closes);
  const auto rows = decode_elements(std::move(back->pieces[1].elements), word_type(), nullptr);
  REQUIRE(rows);
  CHECK(row_texts(std::get<graph::record_batch>(rows->elements[0])) ==
        row_texts(words({{"a", 1}, {"a long word, not inline", 2}})));
}

TEST_CASE("batches are read in place") {
  const auto made = encode_frame(sample());
  const auto body = body_of(made);

  const auto back = decoded(made.header, body);

  REQUIRE(back);
  for (const auto& piece : back->pieces) {
    const auto& batch = std::get<wire_batch>(piece.elements[0].content);
    REQUIRE(batch.pieces.size() == 1);
    const auto* at = batch.pieces[0].view.data();
    CHECK(at >= body->as<char>());
    CHECK(at < body->as<char>() + body->size_bytes());
    CHECK(reinterpret_cast<std::uintptr_t>(at) % 64 == 0);
    CHECK(batch.pinned_bytes <= body->size_bytes());
  }
}

TEST_CASE("a body that is too short or too long is refused") {
  const auto made = encode_frame(sample());
  const auto body = body_of(made);

  for (const std::size_t size : {std::size_t{0}, std::size_t{64}, body->size_bytes() - 1}) {
    const auto back = decode_frame(made.header, {body->as<char>(), size}, body);
    REQUIRE(!back);
    CHECK(back.error().code == errc::malformed_message);
  }
  const byte_string longer(made.body_bytes + 64, '\0');
  CHECK(!decode_frame(made.header, longer, body));
}

TEST_CASE("impossible sizes and credits are refused") {
  const auto refused = [](const std::function<void(schema::DataFrame::Builder)>& spoil) {
    message_builder<schema::DataFrame> builder;
    spoil(*builder);
    const auto finished = builder.finish();
    const auto words = finished.untyped().words().asBytes();
    byte_string header;
    byte_writer(header).put(static_cast<std::uint32_t>(words.size()));
    byte_string body(reinterpret_cast<const char*>(words.begin()), words.size());
    body.resize((body.size() + 63) / 64 * 64);
    const auto back = decode_frame(header, body, nullptr);
    REQUIRE(!back);
    CHECK(back.error().code == errc::malformed_message);
  };

  refused([](auto out) { out.initCredits(1)[0].setBytes(~std::uint64_t{0}); });
  refused([](auto out) { out.initRequests(1)[0].setCreditBytes(~std::uint64_t{0}); });
  refused([](auto out) {
    out.initPieces(1)[0].initElements(1)[0].initBatch().setSizeBytes(~std::uint64_t{0});
  });
  refused([](auto out) {
    out.initPieces(1)[0].initElements(1)[0].initBatch().setRawBytes(~std::uint64_t{0});
  });
  refused([](auto out) { out.initPieces(1)[0].initElements(1)[0].setCost(~std::uint64_t{0}); });
  refused([](auto out) { out.initPieces(1)[0].initElements(1)[0].setEndOfInput(); }); // for nothing
}

TEST_CASE("a batch that costs less than its bytes is refused") {
  data_frame frame;
  auto cheap = wire_of(numbers(std::vector<std::int64_t>(1000, 1)));
  cheap.cost = 7999;
  frame.pieces.push_back({1, {std::move(cheap)}, false});
  const auto made = encode_frame(frame);

  const auto back = decoded(made.header, body_of(made));

  REQUIRE(!back);
  CHECK(back.error().code == errc::malformed_message);
}

TEST_CASE("a header that is no length is refused") {
  const auto made = encode_frame(sample());
  const auto body = body_of(made);
  for (const byte_string& header :
       {byte_string(), byte_string(3, '\0'), byte_string(5, '\0'), byte_string(4, '\xff')})
    CHECK(!decoded(header, body));
}

TEST_CASE("flipped bits give rows or an error, never more") {
  dice random(seed() + 72);
  const auto made = encode_frame(sample());
  int taken = 0;
  for (int round = 0; round < 3000; ++round) {
    auto header = made.header;
    const auto body = body_of(made);
    const auto flips = 1 + random.below(4);
    for (std::uint64_t i = 0; i < flips; ++i) {
      if (random.one_in(20))
        header[random.below(header.size())] ^= static_cast<char>(1U << random.below(8));
      else
        body->mutable_data()[random.below(body->size_bytes())] ^=
            static_cast<std::byte>(1U << random.below(8));
    }

    auto back = decoded(header, body);
    if (!back)
      continue;
    for (auto& piece : back->pieces)
      if (const auto rows = decode_elements(std::move(piece.elements), word_type(), nullptr))
        for (const auto& element : rows->elements)
          if (const auto* batch = std::get_if<graph::record_batch>(&element))
            taken += row_texts(*batch).empty() ? 0 : 1;
  }
  CHECK(taken > 0);
}

} // TEST_SUITE("task/network/data_frame")

} // namespace headrace::task
