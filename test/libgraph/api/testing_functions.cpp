// A library of functions for tests.

#include "libgraph/api/headrace.hpp"

#include <stdexcept>
#include <string>

namespace api = headrace::api;

std::int64_t twice(std::int64_t n) noexcept { return 2 * n; }
HEADRACE_SCALAR_FUNCTION(twice, twice)

HEADRACE_SCALAR_FUNCTION(or_zero, [](std::optional<std::int64_t> n) { return n.value_or(0); })

HEADRACE_SCALAR_FUNCTION(answer, [] { return std::int32_t{42}; })

HEADRACE_SCALAR_FUNCTION(checked, [](const std::string& text) -> std::string {
  if (text == "bad")
    throw std::runtime_error("it is bad");
  if (text == "number")
    throw 42; // NOLINT: what callers must survive
  return text + "!";
})

struct counted {
  std::string text;
  std::int32_t place = 0;
};
HEADRACE_STRUCT(counted, text, place)
HEADRACE_TABLE_FUNCTION(copies, [](std::string_view text, std::int32_t count,
                                   api::collector<counted>& out) {
  if (count < 0)
    throw std::invalid_argument("a negative count");
  for (std::int32_t i = 0; i < count; ++i)
    out.emit({std::string(text), i});
})

/// Keeps a text, so it is encoded.
struct longest {
  std::string create() { return "-"; }
  void accumulate(std::string& group, std::string_view text) {
    if (text.size() > group.size())
      group = text;
  }
  std::string result(const std::string& group) { return group; }
};
HEADRACE_AGGREGATE_FUNCTION(longest, longest())
