// Measures how much CPU time bytes take to become rows, and rows bytes. Prints one JSON line a
// measurement.

#include "libtask/format/csv_format.hpp"
#include "libtask/format/json_format.hpp"
#include "libtask/format/lines_format.hpp"
#include "libgraph/data/batch_builder.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>

namespace headrace::task {
namespace {

using graph::logical_type;

constexpr std::size_t text_bytes = std::size_t{1} << 20U; // one block of the file source
constexpr std::size_t batch_rows = 4096;
constexpr int repeats = 7;

/// CPU time of this thread: what others do on the machine does not count.
double cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/// Runs `body` over and over; prints the best of several timed rounds.
template <class Body>
void measure(const char* name, std::size_t rows, std::size_t bytes, Body body) {
  double best_ns = 1e300;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const auto start = cpu_ns();
    int runs = 0;
    double elapsed_ns = 0;
    while (elapsed_ns < 5e7) {
      body();
      ++runs;
      elapsed_ns = cpu_ns() - start;
    }
    best_ns = std::min(best_ns, elapsed_ns / runs);
  }
  std::printf(
      "{\"bench\":\"format\",\"name\":\"%s\",\"rows\":%zu,\"ns_per_row\":%.1f,\"mb_per_s\":%.0f}\n",
      name, rows, best_ns / static_cast<double>(rows), static_cast<double>(bytes) * 1e3 / best_ns);
  std::fflush(stdout);
}

graph::row_type_ptr bid_type() {
  return std::make_shared<const logical_type>(
      logical_type::row({{"auction", logical_type::bigint(), ""},
                         {"bidder", logical_type::bigint(), ""},
                         {"price", logical_type::bigint(), ""},
                         {"channel", logical_type::string(), ""},
                         {"url", logical_type::string(), ""},
                         {"dateTime", logical_type::timestamp(3), ""},
                         {"extra", logical_type::string(), ""}}));
}

/// A block of bids, as the format's own encoder writes them.
graph::record_batch bids(std::size_t rows) {
  const auto type = bid_type();
  graph::batch_builder builder(type);
  for (std::size_t i = 0; i < rows; ++i) {
    const auto n = static_cast<std::int64_t>(i);
    builder.column(0).append(1000 + n * 7 % 5000);
    builder.column(1).append(2000 + n * 13 % 9000);
    builder.column(2).append(n * 7919 % 10'000'000);
    builder.column(3).append_string(i % 3 == 0 ? "Google" : "channel-" + std::to_string(i % 10000));
    builder.column(4).append_string("https://www.nexmark.com/" + std::to_string(i * 31 % 100000) +
                                    "/item.htm?query=1");
    builder.column(5).append(std::int64_t{1'700'000'000'000} + n);
    builder.column(6).append_string("extra text number " + std::to_string(i * 17));
    builder.end_row();
  }
  return builder.finish();
}

void measure_decoding(const char* name, const graph::format& format,
                      const graph::row_type_ptr& record, const graph::row_type_ptr& produced,
                      std::string_view text, bool shares) {
  const auto block = graph::buffer::allocate(text.size());
  std::memcpy(block->mutable_data(), text.data(), text.size());
  auto decoder = std::move(*format.create_decoder(record, produced));
  graph::batch_builder builder(produced);
  std::size_t rows = 0;
  const auto body = [&] {
    rows = 0;
    for (std::size_t at = 0; at < text.size();) {
      const auto done =
          decoder->decode({block->as<char>() + at, text.size() - at}, true, {"bench", at + 1, 0},
                          batch_rows, shares ? block : nullptr, builder);
      at += done->bytes;
      rows += builder.finish().size();
    }
  };
  body();
  measure(name, rows, text.size(), body);
}

graph::row_type_ptr event_type() {
  const auto number = logical_type::bigint();
  const auto text = logical_type::string();
  const auto time = logical_type::timestamp(3);
  return std::make_shared<const logical_type>(
      logical_type::row({{"event_type", logical_type::integer(), ""},
                         {"person",
                          logical_type::row({{"id", number, ""},
                                             {"name", text, ""},
                                             {"emailAddress", text, ""},
                                             {"creditCard", text, ""},
                                             {"city", text, ""},
                                             {"state", text, ""},
                                             {"dateTime", time, ""},
                                             {"extra", text, ""}}),
                          ""},
                         {"auction",
                          logical_type::row({{"id", number, ""},
                                             {"itemName", text, ""},
                                             {"description", text, ""},
                                             {"initialBid", number, ""},
                                             {"reserve", number, ""},
                                             {"dateTime", time, ""},
                                             {"expires", time, ""},
                                             {"seller", number, ""},
                                             {"category", number, ""},
                                             {"extra", text, ""}}),
                          ""},
                         {"bid", *bid_type(), ""}}));
}

/// A block of events as Nexmark's: one of person, auction and bid, the others NULL.
byte_string event_lines() {
  byte_string out;
  for (std::size_t i = 0; out.size() < text_bytes; ++i) {
    const auto n = std::to_string(i * 7919 % 100000);
    const auto kind = i % 50 == 0 ? 0 : i % 50 < 4 ? 1 : 2;
    const std::string time = "\"2015-07-15 00:00:0" + std::to_string(i / 1000 % 10) + ".123\"";
    const std::string person =
        "{\"id\":" + n + ",\"name\":\"Peter Jones\",\"emailAddress\":\"mail" + n +
        "@example.com\",\"creditCard\":\"1234 5678 9012 3456\",\"city\":\"Portland\"," +
        "\"state\":\"OR\",\"dateTime\":" + time + ",\"extra\":\"" + std::string(100, 'p') + "\"}";
    const std::string auction = "{\"id\":" + n + ",\"itemName\":\"item " + n +
                                "\",\"description\":\"" + std::string(60, 'd') +
                                "\",\"initialBid\":12,\"reserve\":34" + n +
                                ",\"dateTime\":" + time + ",\"expires\":" + time + ",\"seller\":1" +
                                n + ",\"category\":10,\"extra\":\"" + std::string(250, 'a') + "\"}";
    const std::string bid = "{\"auction\":" + n + ",\"bidder\":1" + n + ",\"price\":7" + n +
                            ",\"channel\":\"Google\",\"url\":\"https://www.nexmark.com/" + n +
                            "/item.htm?query=1\",\"dateTime\":" + time + ",\"extra\":\"" +
                            std::string(20, 'b') + (i % 4 == 0 ? "" : "\\\\c") + "\"}";
    out += "{\"event_type\":" + std::to_string(kind) +
           ",\"person\":" + (kind == 0 ? person : "null") +
           ",\"auction\":" + (kind == 1 ? auction : "null") +
           ",\"bid\":" + (kind == 2 ? bid : "null") + "}\n";
  }
  return out;
}

void measure_events() {
  const auto format = std::move(*make_json_format({}));
  const auto type = event_type();
  const auto text = event_lines();
  measure_decoding("json decode event", *format, type, type, text, true);
  const auto bid = logical_type::row(
      {{"auction", logical_type::bigint(), ""}, {"price", logical_type::bigint(), ""}});
  const auto few = std::make_shared<const logical_type>(logical_type::row({{"bid", bid, ""}}));
  measure_decoding("json decode event, two fields of a row", *format, type, few, text, true);
}

void run() {
  measure_events();
  const auto type = bid_type();
  const auto sample = bids(batch_rows);
  byte_string bid_text;
  for (const std::string name : {"csv", "json"}) {
    const auto format = std::move(*(name == "csv" ? make_csv_format({}) : make_json_format({})));
    auto encoder = std::move(*format->create_encoder(type));
    byte_string once;
    static_cast<void>(encoder->encode(sample, once));
    measure((name + " encode bid").c_str(), sample.size(), once.size(), [&] {
      byte_string out;
      out.reserve(once.size());
      static_cast<void>(encoder->encode(sample, out));
    });
    byte_string text;
    while (text.size() < text_bytes)
      text += once;
    measure_decoding((name + " decode bid").c_str(), *format, type, type, text, true);
    measure_decoding((name + " decode bid, copying").c_str(), *format, type, type, text, false);
    const auto few = std::make_shared<const logical_type>(
        logical_type::row({{"price", logical_type::bigint(), ""}}));
    measure_decoding((name + " decode bid, one column").c_str(), *format, type, few, text, true);
    bid_text = std::move(text);
  }
  const auto lines = std::move(*make_lines_format({}));
  const auto line_type = std::make_shared<const logical_type>(
      logical_type::row({{"line", logical_type::string(), ""}}));
  byte_string words;
  for (std::size_t i = 0; words.size() < text_bytes; ++i)
    words += std::string(i % 9 + 1, 'a') + "\n";
  measure_decoding("lines decode words", *lines, line_type, line_type, words, true);
  measure_decoding("lines decode bid", *lines, line_type, line_type, bid_text, true);
  const auto csv = std::move(*make_csv_format({}));
  const auto numbers_type = std::make_shared<const logical_type>(
      logical_type::row({{"a", logical_type::bigint(), ""},
                         {"b", logical_type::bigint(), ""},
                         {"c", logical_type::float64(), ""},
                         {"d", logical_type::decimal(12, 2), ""}}));
  byte_string numbers;
  for (std::size_t i = 0; numbers.size() < text_bytes; ++i)
    numbers += std::to_string(i) + "," + std::to_string(i * 7919 % 1000) + "," +
               std::to_string(static_cast<double>(i) / 8) + "," + std::to_string(i % 1000) +
               ".25\n";
  measure_decoding("csv decode numbers", *csv, numbers_type, numbers_type, numbers, true);
}

} // namespace
} // namespace headrace::task

int main() { headrace::task::run(); }
