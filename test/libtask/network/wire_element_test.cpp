#include "libtask/network/wire_element.hpp"

#include "test/support/batches.hpp"
#include "test/support/random_batch.hpp"
#include "test/support/seed.hpp"
#include "libtask/network/exchange_mail.hpp"
#include "libtask/task/memory_arbiter.hpp"
#include "libgraph/data/batch_codec.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

namespace headrace::task {

using namespace headrace::testing;
using graph::record_batch;
using graph::stream_element;

namespace {

/// As it comes out of a frame of so many bytes.
std::vector<wire_element> received(std::vector<wire_element> sent, std::uint64_t frame_bytes) {
  for (auto& element : sent) {
    auto* batch = std::get_if<wire_batch>(&element.content);
    if (batch == nullptr)
      continue;
    const auto frame = graph::buffer::allocate(batch->size_bytes);
    std::size_t at = 0;
    for (const auto& piece : batch->pieces) {
      std::memcpy(frame->mutable_data() + at, piece.view.data(), piece.view.size());
      at += piece.view.size();
    }
    REQUIRE(at == batch->size_bytes);
    batch->pieces = {{{frame->as<char>(), at}, frame}};
    batch->pinned_bytes = frame_bytes;
  }
  return sent;
}

/// What is over goes in further elements.
result<std::vector<wire_element>>
encode_elements(const std::vector<stream_element>& elements, const wire_options& options,
                const std::shared_ptr<graph::memory_budget>& budget,
                std::size_t bytes_max = wire_batch_bytes_max) {
  std::vector<wire_element> out;
  for (auto element : elements) {
    while (true) {
      HEADRACE_TRY(auto encoded, encode_element(element, options, budget, bytes_max));
      out.push_back(std::move(encoded.element));
      if (!encoded.rest)
        break;
      element = *std::move(encoded.rest);
    }
  }
  return out;
}

std::vector<std::string> texts_of(const std::vector<stream_element>& elements) {
  std::vector<std::string> out;
  for (const auto& element : elements)
    if (const auto* rows = std::get_if<record_batch>(&element))
      for (auto& text : row_texts(*rows))
        out.push_back(std::move(text));
  return out;
}

} // namespace

TEST_SUITE("task/network/wire_element") {

TEST_CASE("elements of all kinds come back, batches of all types, compressed or not") {
  dice random(seed() + 70);
  for (int round = 0; round < 200; ++round) {
    const auto type = random_row_type(random);
    std::vector<std::string> texts;
    const auto batch = random_batch(random, type, 1 + random.below(300), variety::few, texts);
    const std::vector<stream_element> elements{
        batch,
        graph::watermark{static_cast<std::int64_t>(random.next())},
        graph::watermark_status{true},
        graph::barrier{7, 8, graph::barrier_alignment::at_least_once},
        graph::barrier{9,
                       8,
                       {},
                       std::make_shared<const graph::savepoint_order>(
                           graph::savepoint_order{"/there", true, graph::savepoint_stop::suspend})},
        graph::latency_marker{9, 10},
        graph::end_of_input{}};
    const wire_options options{random.one_in(2), 64};

    const auto sent = encode_elements(elements, options, nullptr);
    REQUIRE(sent);
    const auto back = decode_elements(received(*sent, random.below(10'000)), type, nullptr);

    REQUIRE(back);
    REQUIRE(back->elements.size() == elements.size());
    for (std::size_t i = 0; i < elements.size(); ++i)
      CHECK(back->costs[i] == (*sent)[i].cost);
    CHECK(back->costs[0] >= exchange_cost(batch));
    CHECK(back->costs[0] >= graph::batch_encoding(batch).size_bytes());
    CHECK(back->costs[1] == exchange_cost(elements[1]));
    CHECK(texts_of(back->elements) == texts);
    for (std::size_t i = 1; i < elements.size(); ++i)
      CHECK(back->elements[i].index() == elements[i].index());
    CHECK(std::get<graph::watermark>(back->elements[1]) == std::get<graph::watermark>(elements[1]));
    CHECK(std::get<graph::barrier>(back->elements[3]) == std::get<graph::barrier>(elements[3]));
    CHECK(std::get<graph::latency_marker>(back->elements[5]) ==
          std::get<graph::latency_marker>(elements[5]));
  }
}

TEST_CASE("a batch that is too large goes in pieces, in order, each for its bytes at least") {
  dice random(seed() + 71);
  word_rows rows;
  for (int i = 0; i < 2000; ++i)
    rows.push_back({std::string(random.below(200), 'w'), i});
  const auto batch = words(rows);
  const auto type = batch.type();
  const auto texts = row_texts(batch);

  const auto sent = encode_elements({batch}, {}, nullptr, 8 << 10U);
  REQUIRE(sent);
  const auto back = decode_elements(*sent, type, nullptr);

  REQUIRE(back);
  CHECK(sent->size() > 1);
  CHECK(texts_of(back->elements) == texts);
  for (const auto& element : *sent) {
    CHECK(body_bytes(element) <= (8U << 10U));
    CHECK(element.cost >= body_bytes(element));
  }
}

TEST_CASE("the long row among short ones costs its bytes, not its share") {
  word_rows rows(100, {"a", 1});
  rows[7] = {std::string(100'000, 'x'), 1};
  const auto batch = words(rows).slice(7, 1);
  REQUIRE(exchange_cost(batch) < 50'000);

  const auto sent = encode_elements({batch}, {}, nullptr);

  REQUIRE(sent);
  CHECK((*sent)[0].cost >= 100'000);
}

TEST_CASE("a row that is larger than a batch may be is an error in words") {
  const auto sent =
      encode_elements({words({{std::string(10'000, 'x'), 1}})}, {}, nullptr, 8 << 10U);

  REQUIRE(!sent);
  CHECK(sent.error().code == errc::message_too_large);
}

TEST_CASE("rows that repeat are smaller compressed") {
  const word_rows same(1000, {"the same words in every row", 1});
  const auto batch = words(same);

  const auto sent = encode_elements({batch}, {true, 1024}, nullptr);

  REQUIRE(sent);
  const auto& compressed = std::get<wire_batch>(sent->front().content);
  CHECK(compressed.raw_bytes == graph::batch_encoding(batch).size_bytes());
  CHECK(compressed.size_bytes < compressed.raw_bytes / 4);
}

TEST_CASE("what is on its way and what has come is charged as long as it lives") {
  const auto slot = std::make_shared<slot_memory>(0);
  const auto sender = std::make_shared<task_memory>(slot);
  const auto receiver = std::make_shared<task_memory>(slot);
  const auto batch = numbers(std::vector<std::int64_t>(1000, 1));
  for (const std::uint64_t frame_bytes : {std::uint64_t{0}, std::uint64_t{1} << 20U}) {
    auto sent = encode_elements({batch}, {}, sender);
    REQUIRE(sent);
    // The values stay where they lie.
    CHECK(sender->used_bytes() == body_bytes(sent->front()) - 8000);
    auto elements = received(*sent, frame_bytes);
    const std::weak_ptr<const void> frame =
        std::get<wire_batch>(elements.front().content).pieces.front().owner;

    {
      const auto back = decode_elements(std::move(elements), batch.type(), receiver);

      REQUIRE(back);
      CHECK(receiver->used_bytes() == body_bytes(sent->front()));
      sent->clear();
      CHECK(sender->used_bytes() == 0);
      // Read in place the frame lives as long as its rows, copied it does not.
      CHECK(frame.expired() == (frame_bytes > 0));
    }

    CHECK(frame.expired());
    CHECK(slot->used_bytes() == 0);
  }
}

TEST_CASE("long runs of values are sent from where they lie") {
  const auto batch = numbers(std::vector<std::int64_t>(1000, 1));

  const auto sent = encode_elements({batch}, {}, nullptr);

  REQUIRE(sent);
  const auto& pieces = std::get<wire_batch>(sent->front().content).pieces;
  const auto* values = batch.at(0).values<char>();
  CHECK(std::any_of(pieces.begin(), pieces.end(), [&](const shared_bytes& piece) {
    return piece.view.data() == values && piece.view.size() == 8000;
  }));
}

TEST_CASE("bytes that lie about their size are an error") {
  auto sent = encode_elements({words(word_rows(1000, {"the same words", 1}))}, {true, 64}, nullptr);
  REQUIRE(sent);
  const auto type = word_type();
  auto& batch = std::get<wire_batch>(sent->front().content);
  REQUIRE(batch.raw_bytes > 0);

  for (const auto raw : {batch.raw_bytes - 1, batch.raw_bytes + 1, std::uint64_t{1} << 60U}) {
    auto bad = *sent;
    std::get<wire_batch>(bad.front().content).raw_bytes = raw;
    const auto back = decode_elements(std::move(bad), type, nullptr);
    REQUIRE(!back);
    CHECK(back.error().code == errc::malformed_message);
  }
  batch.raw_bytes = 0; // compressed bytes are no batch
  CHECK(!decode_elements(*sent, type, nullptr));
}

} // TEST_SUITE("task/network/wire_element")

} // namespace headrace::task
