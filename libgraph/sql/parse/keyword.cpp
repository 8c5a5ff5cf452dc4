#include "libgraph/sql/parse/keyword.hpp"

#include "libactors/base/text.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace headrace::sql {
namespace {

struct entry {
  std::string text;
  kw::word keyword;
};

/// By number; the marks between the groups have no text.
const std::vector<std::string>& texts() {
  static const auto all = [] {
    std::vector<std::string> out(kw::free_end);
#define HEADRACE_WORD(name) out[kw::name##_] = in_capitals(#name);
    HEADRACE_SQL_RESERVED_WORDS(HEADRACE_WORD)
    HEADRACE_SQL_FUNCTION_WORDS(HEADRACE_WORD)
    HEADRACE_SQL_FREE_WORDS(HEADRACE_WORD)
#undef HEADRACE_WORD
    return out;
  }();
  return all;
}

const std::vector<entry>& sorted_words() {
  static const auto all = [] {
    std::vector<entry> out;
    for (std::size_t i = 0; i < texts().size(); ++i)
      if (!texts()[i].empty())
        out.push_back({texts()[i], static_cast<kw::word>(i)});
    std::sort(out.begin(), out.end(),
              [](const entry& left, const entry& right) { return left.text < right.text; });
    return out;
  }();
  return all;
}

} // namespace

kw::word find_keyword(std::string_view text) {
  constexpr std::size_t length_max = 32;
  if (text.size() > length_max)
    return kw::none;
  const auto wanted = in_capitals(text);
  const auto& all = sorted_words();
  const auto found = std::lower_bound(
      all.begin(), all.end(), wanted,
      [](const entry& each, const std::string& value) { return each.text < value; });
  return found != all.end() && found->text == wanted ? found->keyword : kw::none;
}

bool may_name_function(kw::word keyword) {
  if (keyword > kw::reserved_end && keyword < kw::function_end)
    return true;
  switch (keyword) {
  case kw::left_:
  case kw::right_:
  case kw::year_:
  case kw::month_:
  case kw::day_:
  case kw::hour_:
  case kw::minute_:
  case kw::second_:
  case kw::any_:
  case kw::some_:
  case kw::every_:
  case kw::contains_:
  case kw::insert_:
  case kw::next_:
  case kw::translation_:
  case kw::unique_:
  case kw::char_:
  case kw::array_max_cardinality_:
  case kw::hash_:
  case kw::percent_:
  case kw::intersection_:
  case kw::period_:
    return true;
  default:
    return false;
  }
}

std::string_view text_of(kw::word keyword) { return texts()[keyword]; }

} // namespace headrace::sql
