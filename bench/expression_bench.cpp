// Measures kernels of expressions over batches, each beside the tightest loop that does the same
// by hand. Prints one JSON line a measurement.

#include "libgraph/data/batch_builder.hpp"
#include "libgraph/expression/program.hpp"
#include "libactors/base/ids.hpp"

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace headrace::graph {
namespace {

constexpr std::size_t batch_rows = 4096;
constexpr int repeats = 5;

template <class Body>
double best_ns(Body body) {
  using clock = std::chrono::steady_clock;
  double best = 1e300;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const auto start = clock::now();
    int count = 0;
    double elapsed = 0;
    while (elapsed < 2e7) {
      body();
      ++count;
      elapsed = std::chrono::duration<double, std::nano>(clock::now() - start).count();
    }
    best = std::min(best, elapsed / count);
  }
  return best / batch_rows;
}

template <class T>
void keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

logical_type big() { return logical_type::bigint(); }
logical_type flag() { return logical_type::boolean(); }

record_batch make_rows() {
  const auto type = std::make_shared<const logical_type>(
      logical_type::row({{"a", big(), {}},
                         {"b", big(), {}},
                         {"x", logical_type::float64(), {}},
                         {"price", logical_type::decimal(10, 2), {}},
                         {"text", logical_type::string(), {}},
                         {"digits", logical_type::string(), {}},
                         {"time", logical_type::timestamp(3), {}}}));
  batch_builder out(type);
  for (std::uint64_t i = 0; i < batch_rows; ++i) {
    const auto random = mix64(i);
    out.column(0).append(static_cast<std::int64_t>(random % 1000));
    out.column(1).append(static_cast<std::int64_t>(random >> 32U) % 1000);
    out.column(2).append(static_cast<double>(random % 997) / 8);
    out.column(3).append(int128{random % 1'000'000});
    out.column(4).append_string("https://www.example.com/item" + std::to_string(random % 100'000));
    out.column(5).append_string(std::to_string(random % 1'000'000));
    out.column(6).append(static_cast<std::int64_t>(random % 4'000'000'000'000));
    out.end_row();
  }
  return out.finish();
}

expression column_of(const record_batch& rows, std::uint32_t index) {
  return make_column(index, rows.type()->child(index));
}
expression number(std::int64_t value) { return make_constant(fixed_value(big(), value)); }
expression text(std::string_view value) {
  return make_constant(text_value(logical_type::string().not_null(), value));
}

/// Runs a program of one output (or condition) beside a loop.
template <class Loop>
void measure(const char* name, const record_batch& rows, const expression& condition,
             const std::vector<expression>& outputs, Loop loop) {
  auto program = expression_program::compile(*rows.type(), condition, outputs, {});
  if (!program) {
    std::fprintf(stderr, "%s: %s\n", name, program.error().message.c_str());
    std::exit(1);
  }
  std::vector<logical_type::field> fields;
  for (const auto& each : outputs)
    fields.push_back({"value" + std::to_string(fields.size()), each.type(), {}});
  const auto type = std::make_shared<const logical_type>(logical_type::row(std::move(fields)));
  const auto kernel_ns = best_ns([&] {
    const auto out = program->run(rows, type, {});
    keep(out);
  });
  const auto loop_ns = best_ns([&] { loop(); });
  std::printf("{\"bench\":\"expression\",\"name\":\"%s\",\"ns_per_row\":%.3f,\"loop_ns_per_row\":"
              "%.3f,\"times\":%.2f}\n",
              name, kernel_ns, loop_ns, kernel_ns / loop_ns);
  std::fflush(stdout);
}

void measure_numbers(const record_batch& rows) {
  const auto* a = rows.at(0).values<std::int64_t>();
  const auto* b = rows.at(1).values<std::int64_t>();
  const auto* price = rows.at(3).values<int128>();
  std::vector<std::int64_t> numbers(batch_rows);
  std::vector<int128> decimals(batch_rows);
  std::vector<std::uint32_t> kept(batch_rows);
  measure("add", rows, {}, {make_call("+", big(), {column_of(rows, 0), column_of(rows, 1)})}, [&] {
    for (std::size_t i = 0; i < batch_rows; ++i)
      numbers[i] = a[i] + b[i];
    keep(numbers);
  });
  measure("divide", rows, {},
          {make_call("/", big(),
                     {column_of(rows, 0), make_call("+", big(), {column_of(rows, 1), number(1)})})},
          [&] {
            for (std::size_t i = 0; i < batch_rows; ++i)
              numbers[i] = a[i] / (b[i] + 1);
            keep(numbers);
          });
  const auto rate = make_constant(fixed_value(logical_type::decimal(4, 3).not_null(), int128{908}));
  measure("decimal_multiply", rows, {},
          {make_call("*", logical_type::decimal(15, 5), {column_of(rows, 3), rate})}, [&] {
            for (std::size_t i = 0; i < batch_rows; ++i)
              decimals[i] = price[i] * 908;
            keep(decimals);
          });
  measure("filter", rows,
          make_call("AND", flag(),
                    {make_call("<", flag(), {column_of(rows, 0), number(500)}),
                     make_call(">", flag(), {column_of(rows, 1), number(100)})}),
          {column_of(rows, 0)}, [&] {
            std::size_t count = 0;
            for (std::size_t i = 0; i < batch_rows; ++i) {
              kept[count] = static_cast<std::uint32_t>(i);
              count += a[i] < 500 && b[i] > 100 ? 1 : 0;
            }
            keep(kept);
          });
  measure("case", rows, {},
          {make_call("CASE", big(),
                     {make_call("<", flag(), {column_of(rows, 0), number(500)}), column_of(rows, 1),
                      number(0)})},
          [&] {
            for (std::size_t i = 0; i < batch_rows; ++i)
              numbers[i] = a[i] < 500 ? b[i] : 0;
            keep(numbers);
          });
}

void measure_texts(const record_batch& rows) {
  const auto& texts = rows.at(4);
  const auto& digits = rows.at(5);
  std::vector<std::uint8_t> flags(batch_rows);
  std::vector<std::int64_t> numbers(batch_rows);
  measure("like_contains", rows, {},
          {make_call("LIKE", flag(), {column_of(rows, 4), text("%item9%")})}, [&] {
            for (std::size_t i = 0; i < batch_rows; ++i)
              flags[i] = texts.string_at(i).find("item9") != std::string_view::npos ? 1 : 0;
            keep(flags);
          });
  measure("text_equal", rows, {}, {make_call("=", flag(), {column_of(rows, 5), text("123456")})},
          [&] {
            for (std::size_t i = 0; i < batch_rows; ++i)
              flags[i] = digits.string_at(i) == "123456" ? 1 : 0;
            keep(flags);
          });
  measure("cast_text_to_bigint", rows, {}, {make_call("CAST", big(), {column_of(rows, 5)})}, [&] {
    for (std::size_t i = 0; i < batch_rows; ++i) {
      std::int64_t value = 0;
      for (const char each : digits.string_at(i))
        value = value * 10 + (each - '0');
      numbers[i] = value;
    }
    keep(numbers);
  });
  measure("regexp_extract", rows, {},
          {make_call("REGEXP_EXTRACT", logical_type::string(),
                     {column_of(rows, 4), text("item([0-9]+)"),
                      make_constant(fixed_value(logical_type::integer(), std::int32_t{1}))})},
          [&] {
            column_builder out(logical_type::string());
            for (std::size_t i = 0; i < batch_rows; ++i) {
              const auto from = texts.string_at(i);
              out.append_string(from.substr(from.find("item") + 4));
            }
            keep(out.finish());
          });
  measure("upper", rows, {}, {make_call("UPPER", logical_type::string(), {column_of(rows, 4)})},
          [&] {
            column_builder out(logical_type::string());
            std::string made;
            for (std::size_t i = 0; i < batch_rows; ++i) {
              made = texts.string_at(i);
              for (auto& each : made)
                each = each >= 'a' && each <= 'z' ? static_cast<char>(each - 32) : each;
              out.append_string(made);
            }
            keep(out.finish());
          });
}

void measure_times(const record_batch& rows) {
  const auto* times = rows.at(6).values<std::int64_t>();
  std::vector<std::int64_t> numbers(batch_rows);
  measure("hour", rows, {}, {make_call("HOUR", big(), {column_of(rows, 6)})}, [&] {
    for (std::size_t i = 0; i < batch_rows; ++i)
      numbers[i] = times[i] / 3'600'000 % 24;
    keep(numbers);
  });
}

} // namespace
} // namespace headrace::graph

int main() {
  // As a process that runs tasks: freed blocks are kept.
  mallopt(M_MMAP_THRESHOLD, 1 << 26);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  using namespace headrace::graph;
  const auto rows = make_rows();
  measure_numbers(rows);
  measure_texts(rows);
  measure_times(rows);
}
