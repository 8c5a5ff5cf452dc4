// Feeds text to the parser. What it takes is printed and parsed again, and must be equal; what it
// refuses it must refuse at a place inside the text.

#include "libgraph/sql/parse/parser.hpp"
#include "libgraph/sql/parse/printer.hpp"
#include "libactors/base/assert.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headrace;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto script = sql::parse_script(text);
  for (const auto& each : script.findings) {
    HEADRACE_ASSERT(each.at.end <= text.size() && each.at.begin <= each.at.end,
                    "an error is inside the text");
    HEADRACE_ASSERT(!sql::to_string(each, text).empty(), "an error has words");
  }
  for (const auto& each : script.value.statements) {
    const auto printed = sql::to_sql(each);
    const auto again = sql::parse_statement(printed);
    HEADRACE_ASSERT(again.value.has_value(), "what was printed is parsed");
    HEADRACE_ASSERT(*again.value == each, "what was printed is the same");
  }
  return 0;
}
