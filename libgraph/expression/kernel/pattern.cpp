#include "libgraph/expression/kernel/like_pattern.hpp"
#include "libgraph/expression/kernel/map.hpp"
#include "libgraph/expression/kernel/nested_access.hpp"
#include "libgraph/expression/kernel/utf8.hpp"

#include <re2/re2.h>

#include <memory>

// LIKE, SIMILAR TO and regular expressions. A constant pattern is compiled once, another one when
// it changes from row to row.
namespace headrace::graph {
namespace {

using text = std::string_view;

bool are_texts(const kernel_request& request, std::size_t least, std::size_t most) {
  if (request.arguments.size() < least || request.arguments.size() > most)
    return false;
  for (const auto& each : request.arguments)
    if (each.physical() != physical_type::string)
      return false;
  return true;
}

// ---- LIKE -----------------------------------------------------------------------------------

std::optional<text> constant_text(const kernel_request& request, std::size_t argument) {
  if (argument >= request.constants.size())
    return text();
  if (request.constants[argument] == nullptr)
    return std::nullopt;
  return request.constants[argument]->string_at(0);
}

result<kernel> make_like(const kernel_request& request) {
  if (!are_texts(request, 2, 3))
    return unfit(request);
  const auto pattern = constant_text(request, 1);
  const auto escape = constant_text(request, 2);
  if (pattern && escape) {
    HEADRACE_TRY(auto made, like_pattern::compile(*pattern, *escape));
    auto compiled = std::make_shared<const like_pattern>(std::move(made));
    return kernel([compiled](kernel_frame& frame) {
      frame.arguments = frame.arguments.first(1);
      return map_rows<std::uint8_t, text>(
          frame, [&](text value) { return static_cast<std::uint8_t>(compiled->matches(value)); });
    });
  }
  const auto match = [](kernel_frame& frame, text value, text wanted,
                        text escaped) -> std::optional<std::uint8_t> {
    const auto made = like_pattern::compile(wanted, escaped);
    if (!made) {
      frame.fail(made.error().message);
      return std::nullopt;
    }
    return static_cast<std::uint8_t>(made->matches(value));
  };
  if (request.arguments.size() == 2)
    return kernel([match](kernel_frame& frame) {
      return map_rows<std::uint8_t, text, text>(
          frame, [&](text value, text wanted) { return match(frame, value, wanted, {}); });
    });
  return kernel([match](kernel_frame& frame) {
    return map_rows<std::uint8_t, text, text, text>(frame,
                                                    [&](text value, text wanted, text escaped) {
                                                      return match(frame, value, wanted, escaped);
                                                    });
  });
}

// ---- regular expressions ----------------------------------------------------------------------

re2::StringPiece piece_of(text from) { return {from.data(), from.size()}; }
text text_of(const re2::StringPiece& from) { return {from.data(), from.size()}; }

std::unique_ptr<re2::RE2> compile(text pattern) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  return std::make_unique<re2::RE2>(piece_of(pattern), options);
}

/// The pattern that was asked for last.
class pattern_memory {
public:
  /// nullptr: it is no pattern.
  const re2::RE2* find(text pattern) {
    if (made_ == nullptr || pattern != last_) {
      last_ = pattern;
      made_ = compile(pattern);
    }
    return made_->ok() ? made_.get() : nullptr;
  }

private:
  std::string last_;
  std::unique_ptr<re2::RE2> made_;
};

/// A constant that is no pattern is told at once.
status check_pattern(const kernel_request& request) {
  const auto pattern = constant_text(request, 1);
  if (!pattern)
    return {};
  const auto made = compile(*pattern);
  if (made->ok())
    return {};
  return error(errc::type_mismatch, std::string(request.function) +
                                        ": regular expression is malformed or has what is not "
                                        "supported (lookaround, back references): " +
                                        made->error());
}

result<kernel> make_regexp(const kernel_request& request) {
  if (!are_texts(request, 2, 2))
    return unfit(request);
  HEADRACE_CHECK(check_pattern(request));
  return kernel([memory = std::make_shared<pattern_memory>()](kernel_frame& frame) {
    return map_rows<std::uint8_t, text, text>(
        frame, [&](text value, text wanted) -> std::optional<std::uint8_t> {
          const auto* pattern = memory->find(wanted);
          if (pattern == nullptr)
            return std::nullopt;
          return static_cast<std::uint8_t>(!wanted.empty() &&
                                           re2::RE2::PartialMatch(piece_of(value), *pattern));
        });
  });
}

/// A group of the first match; NULL without a match or such a group.
text extract(pattern_memory& memory, std::vector<re2::StringPiece>& groups, text value, text wanted,
             std::int32_t group) {
  const auto* pattern = memory.find(wanted);
  if (pattern == nullptr || group < 0 || group > pattern->NumberOfCapturingGroups())
    return {};
  groups.assign(static_cast<std::size_t>(group) + 1, {});
  if (!pattern->Match(piece_of(value), 0, value.size(), re2::RE2::UNANCHORED, groups.data(),
                      group + 1))
    return {};
  return text_of(groups.back());
}

result<kernel> make_regexp_extract(const kernel_request& request) {
  const bool has_group = request.arguments.size() == 3;
  if (request.arguments.size() < 2 || request.arguments.size() > 3 ||
      request.arguments[0].physical() != physical_type::string ||
      request.arguments[1].physical() != physical_type::string ||
      (has_group && request.arguments[2].physical() != physical_type::int32))
    return unfit(request);
  HEADRACE_CHECK(check_pattern(request));
  const auto memory = std::make_shared<pattern_memory>();
  if (has_group)
    return kernel([memory](kernel_frame& frame) {
      std::vector<re2::StringPiece> groups;
      return map_view<text, text, std::int32_t>(
          frame, [&](text value, text wanted, std::int32_t group) {
            return extract(*memory, groups, value, wanted, group);
          });
    });
  return kernel([memory](kernel_frame& frame) {
    std::vector<re2::StringPiece> groups;
    return map_view<text, text>(
        frame, [&](text value, text wanted) { return extract(*memory, groups, value, wanted, 0); });
  });
}

/// A text that stands for itself, as a replacement of RE2's.
std::string rewrite_of(text by) {
  std::string out;
  for (const char letter : by) {
    if (letter == '\\')
      out += '\\';
    out += letter;
  }
  return out;
}

result<kernel> make_regexp_replace(const kernel_request& request) {
  if (!are_texts(request, 3, 3))
    return unfit(request);
  HEADRACE_CHECK(check_pattern(request));
  return kernel([memory = std::make_shared<pattern_memory>()](kernel_frame& frame) {
    return map_text<text, text, text>(
        frame, [&](text_result& out, text value, text wanted, text by) {
          const auto* pattern = memory->find(wanted);
          if (pattern == nullptr)
            return false;
          out.text = value;
          re2::RE2::GlobalReplace(&out.text, *pattern, rewrite_of(by));
          return true;
        });
  });
}

/// Calls `see(match)` with the groups of each match that does not overlap the one before, until it
/// says false.
template <class See>
void for_each_match(const re2::RE2& pattern, text value, std::vector<re2::StringPiece>& groups,
                    See see) {
  groups.assign(static_cast<std::size_t>(pattern.NumberOfCapturingGroups()) + 1, {});
  for (std::size_t at = 0; at <= value.size();) {
    if (!pattern.Match(piece_of(value), at, value.size(), re2::RE2::UNANCHORED, groups.data(),
                       static_cast<int>(groups.size())) ||
        !see())
      return;
    const auto begin = static_cast<std::size_t>(groups[0].data() - value.data());
    at = begin + groups[0].size();
    if (groups[0].empty())
      at += at < value.size() ? front_point(value.substr(at)).size() : 1;
  }
}

result<kernel> make_regexp_count(const kernel_request& request) {
  if (!are_texts(request, 2, 2))
    return unfit(request);
  HEADRACE_CHECK(check_pattern(request));
  return kernel([memory = std::make_shared<pattern_memory>()](kernel_frame& frame) {
    std::vector<re2::StringPiece> groups;
    return map_rows<std::int32_t, text, text>(
        frame, [&](text value, text wanted) -> std::optional<std::int32_t> {
          const auto* pattern = memory->find(wanted);
          if (pattern == nullptr)
            return std::nullopt;
          std::int32_t out = 0;
          for_each_match(*pattern, value, groups, [&] {
            ++out;
            return true;
          });
          return out;
        });
  });
}

/// Where the first match begins, in code points from 1; 0: nowhere.
result<kernel> make_regexp_place(const kernel_request& request) {
  if (!are_texts(request, 2, 2))
    return unfit(request);
  HEADRACE_CHECK(check_pattern(request));
  return kernel([memory = std::make_shared<pattern_memory>()](kernel_frame& frame) {
    return map_rows<std::int32_t, text, text>(
        frame, [&](text value, text wanted) -> std::optional<std::int32_t> {
          const auto* pattern = memory->find(wanted);
          if (pattern == nullptr)
            return std::nullopt;
          re2::StringPiece match;
          if (!pattern->Match(piece_of(value), 0, value.size(), re2::RE2::UNANCHORED, &match, 1))
            return 0;
          const auto before = static_cast<std::size_t>(match.data() - value.data());
          return static_cast<std::int32_t>(count_points(value.substr(0, before))) + 1;
        });
  });
}

/// A group of each match, the first one unless a third argument says which.
result<kernel> make_regexp_extract_all(const kernel_request& request) {
  const auto count = request.arguments.size();
  if (count < 2 || count > 3 || request.arguments[0].physical() != physical_type::string ||
      request.arguments[1].physical() != physical_type::string ||
      (count == 3 && request.arguments[2].physical() != physical_type::int32))
    return unfit(request);
  HEADRACE_CHECK(check_pattern(request));
  return kernel([count, memory = std::make_shared<pattern_memory>()](kernel_frame& frame) {
    const reader<text> values(frame.arguments[0]);
    const reader<text> patterns(frame.arguments[1]);
    std::vector<re2::StringPiece> groups;
    return build_rows(frame, true, [&](column_builder& to, std::size_t row) {
      const auto* pattern = memory->find(patterns[row]);
      const auto group = count == 3 ? reader<std::int32_t>(frame.arguments[2])[row] : 1;
      if (pattern == nullptr || group < 0 || group > pattern->NumberOfCapturingGroups()) {
        to.append_null();
        return;
      }
      to.begin_list();
      for_each_match(*pattern, values[row], groups, [&] {
        to.child(0).append_string(text_of(groups[static_cast<std::size_t>(group)]));
        return true;
      });
      to.end_list();
    });
  });
}

// ---- SIMILAR TO ---------------------------------------------------------------------------------

/// SQL's pattern as a regular expression of the whole text.
std::string regexp_of(text pattern, text escape) {
  constexpr text special = ".^$\\";
  std::string out = "(?s:";
  bool is_in_set = false;
  while (!pattern.empty()) {
    auto letter = front_point(pattern);
    pattern.remove_prefix(letter.size());
    if (!escape.empty() && letter == escape && !pattern.empty()) {
      letter = front_point(pattern);
      pattern.remove_prefix(letter.size());
      out += re2::RE2::QuoteMeta(piece_of(letter));
    } else if (is_in_set) {
      is_in_set = letter != "]";
      if (letter == "\\" || letter == "[")
        out += '\\';
      out += letter;
    } else if (letter == "%") {
      out += ".*";
    } else if (letter == "_") {
      out += '.';
    } else {
      is_in_set = letter == "[";
      if (special.find(letter) != special.npos)
        out += '\\';
      out += letter;
    }
  }
  return out + ")";
}

result<kernel> make_similar(const kernel_request& request) {
  if (!are_texts(request, 2, 3))
    return unfit(request);
  const auto pattern = constant_text(request, 1);
  const auto escape = constant_text(request, 2);
  if (pattern && escape) {
    const auto made = compile(regexp_of(*pattern, *escape));
    if (!made->ok())
      return error(errc::type_mismatch, "pattern of SIMILAR TO is malformed: " + made->error());
  }
  const auto match = [](pattern_memory& memory, kernel_frame& frame, text value, text wanted,
                        text escaped) -> std::optional<std::uint8_t> {
    const auto* compiled = memory.find(regexp_of(wanted, escaped));
    if (compiled == nullptr) {
      frame.fail("pattern is malformed", wanted);
      return std::nullopt;
    }
    return static_cast<std::uint8_t>(re2::RE2::FullMatch(piece_of(value), *compiled));
  };
  const auto memory = std::make_shared<pattern_memory>();
  if (request.arguments.size() == 2)
    return kernel([match, memory](kernel_frame& frame) {
      return map_rows<std::uint8_t, text, text>(
          frame, [&](text value, text wanted) { return match(*memory, frame, value, wanted, {}); });
    });
  return kernel([match, memory](kernel_frame& frame) {
    return map_rows<std::uint8_t, text, text, text>(
        frame, [&](text value, text wanted, text escaped) {
          return match(*memory, frame, value, wanted, escaped);
        });
  });
}

constexpr kernel_entry entries[] = {
    {"LIKE", "s", make_like, true, true},
    {"SIMILAR TO", "s", make_similar, true, true},
    {"REGEXP", "s", make_regexp},
    {"REGEXP_COUNT", "s", make_regexp_count},
    {"REGEXP_EXTRACT", "ssi", make_regexp_extract},
    {"REGEXP_EXTRACT_ALL", "ssi", make_regexp_extract_all},
    {"REGEXP_INSTR", "s", make_regexp_place},
    {"REGEXP_SUBSTR", "s", make_regexp_extract},
    {"REGEXP_REPLACE", "s", make_regexp_replace},
};

} // namespace

std::span<const kernel_entry> pattern_kernels() { return entries; }

} // namespace headrace::graph
