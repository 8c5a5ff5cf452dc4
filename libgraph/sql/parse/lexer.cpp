#include "libgraph/sql/parse/lexer.hpp"

#include "libactors/base/assert.hpp"

#include <algorithm>
#include <limits>

namespace headrace::sql {
namespace {

bool is_blank(char letter) {
  return letter == ' ' || letter == '\t' || letter == '\n' || letter == '\r' || letter == '\f' ||
         letter == '\v';
}
bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }
bool is_ascii_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
}
bool is_name_start(char letter) {
  return is_ascii_letter(letter) || letter == '_' || letter == '$';
}

std::uint32_t code_point_at(std::string_view text, std::size_t at) {
  const auto size = code_point_bytes(text, at);
  const auto first = static_cast<unsigned char>(text[at]);
  if (size <= 1)
    return first;
  std::uint32_t out = first & (0x7FU >> size);
  for (std::size_t i = 1; i < size; ++i)
    out = out << 6U | (static_cast<unsigned char>(text[at + i]) & 0x3FU);
  return out;
}

bool is_wide_blank(std::uint32_t point) {
  return point == 0xA0 || point == 0x1680 || (point >= 0x2000 && point <= 0x200B) ||
         point == 0x2028 || point == 0x2029 || point == 0x202F || point == 0x205F ||
         point == 0x3000 || point == 0xFEFF;
}
/// Punctuation that looks like what was meant: quotes, dashes, full-width marks.
bool is_lookalike(std::uint32_t point) {
  return (point >= 0x2010 && point <= 0x2027) || (point >= 0x2030 && point <= 0x205E) ||
         point == 0xAB || point == 0xBB || (point >= 0x3001 && point <= 0x3003) ||
         (point >= 0xFF01 && point <= 0xFF0F) || (point >= 0xFF1A && point <= 0xFF20);
}

/// The bytes of a letter of a name at `at`; 0 when there is none.
std::size_t name_letter_bytes(std::string_view text, std::size_t at) {
  const char letter = text[at];
  if (is_name_start(letter) || is_digit(letter))
    return 1;
  if (letter >= 0)
    return 0;
  const auto size = code_point_bytes(text, at);
  if (size == 0)
    return 0;
  const auto point = code_point_at(text, at);
  return point < 0xA0 || is_wide_blank(point) || is_lookalike(point) ? 0 : size;
}

class scanner {
public:
  explicit scanner(std::string_view text) : text_(text) {}

  token_list run() {
    token_list out;
    std::vector<std::uint32_t> open;
    while (true) {
      const bool is_closed = skip_blanks();
      auto next = is_closed ? scan() : token{token_kind::malformed, kw::none, 0, {}};
      if (!is_closed)
        end_ = text_.size();
      next.at = {static_cast<std::uint32_t>(begin_), static_cast<std::uint32_t>(end_), line_,
                 column_};
      const auto index = static_cast<std::uint32_t>(out.tokens.size());
      if (next.sign == make_symbol('(')) {
        open.push_back(index);
      } else if (next.sign == make_symbol(')') && !open.empty()) {
        out.closing[open.back()] = index;
        open.pop_back();
      }
      out.tokens.push_back(next);
      out.closing.push_back(0);
      move_to(end_);
      if (next.kind == token_kind::end)
        break;
    }
    for (const auto index : open)
      out.closing[index] = static_cast<std::uint32_t>(out.tokens.size()) - 1;
    return out;
  }

private:
  char at(std::size_t ahead) const {
    return begin_ + ahead < text_.size() ? text_[begin_ + ahead] : '\0';
  }
  bool is_at_end() const { return begin_ >= text_.size(); }

  void move_to(std::size_t end) {
    for (; begin_ < end; ++begin_) {
      const auto letter = static_cast<unsigned char>(text_[begin_]);
      if (letter == '\n') {
        ++line_;
        column_ = 1;
      } else if ((letter & 0xC0U) != 0x80U) {
        ++column_;
      }
    }
  }

  /// Skips blanks and comments. False, and standing at it, when a comment has no end.
  bool skip_blanks() {
    while (!is_at_end()) {
      const char letter = at(0);
      if (is_blank(letter)) {
        move_to(begin_ + 1);
      } else if (letter == '-' && at(1) == '-') {
        move_to(std::min(text_.find('\n', begin_), text_.size()));
      } else if (letter == '/' && at(1) == '*' && at(2) != '+') {
        const auto end = text_.find("*/", begin_ + 2);
        if (end == std::string_view::npos)
          return false;
        move_to(end + 2);
      } else if (letter < 0 && code_point_bytes(text_, begin_) != 0 &&
                 is_wide_blank(code_point_at(text_, begin_))) {
        move_to(begin_ + code_point_bytes(text_, begin_));
      } else {
        break;
      }
    }
    return true;
  }

  token make(token_kind kind, std::size_t size) {
    end_ = begin_ + size;
    return {kind, kw::none, 0, {}};
  }

  token scan() {
    if (is_at_end())
      return make(token_kind::end, 0);
    const char letter = at(0);
    if (letter == '\'')
      return scan_quoted(token_kind::string, 0);
    if (letter == '`')
      return scan_quoted(token_kind::quoted_name, 0);
    if ((letter == 'x' || letter == 'X') && at(1) == '\'')
      return scan_quoted(token_kind::binary_string, 1);
    if ((letter == 'n' || letter == 'N') && at(1) == '\'')
      return scan_quoted(token_kind::string, 1);
    if ((letter == 'u' || letter == 'U') && at(1) == '&' && at(2) == '\'')
      return scan_quoted(token_kind::unicode_string, 2);
    if (letter == '$' && at(1) == '$')
      return scan_body();
    if (is_digit(letter) || (letter == '.' && is_digit(at(1))))
      return scan_number();
    if (name_letter_bytes(text_, begin_) > 0)
      return scan_name();
    return scan_symbol();
  }

  token scan_quoted(token_kind kind, std::size_t prefix) {
    const char closing = at(prefix);
    auto end = begin_ + prefix + 1;
    while (true) {
      end = text_.find(closing, end);
      if (end == std::string_view::npos)
        return make(token_kind::malformed, text_.size() - begin_);
      if (end + 1 >= text_.size() || text_[end + 1] != closing)
        break;
      end += 2;
    }
    // The value goes into names, batches and files, all of which are UTF-8.
    for (auto i = begin_; i < end; i += code_point_bytes(text_, i))
      if (code_point_bytes(text_, i) == 0)
        return make(token_kind::malformed, end + 1 - begin_);
    if (kind == token_kind::quoted_name && end == begin_ + prefix + 1)
      kind = token_kind::malformed;
    return make(kind, end + 1 - begin_);
  }

  token scan_body() {
    const auto end = text_.find("$$", begin_ + 2);
    if (end == std::string_view::npos)
      return make(token_kind::malformed, text_.size() - begin_);
    for (auto i = begin_; i < end; i += code_point_bytes(text_, i))
      if (code_point_bytes(text_, i) == 0)
        return make(token_kind::malformed, end + 2 - begin_);
    return make(token_kind::body, end + 2 - begin_);
  }

  token scan_number() {
    auto kind = token_kind::integer;
    std::size_t size = 0;
    while (is_digit(at(size)))
      ++size;
    if (at(size) == '.') {
      kind = token_kind::decimal;
      ++size;
      while (is_digit(at(size)))
        ++size;
    }
    if (at(size) == 'e' || at(size) == 'E') {
      const std::size_t sign = at(size + 1) == '+' || at(size + 1) == '-' ? 1 : 0;
      if (is_digit(at(size + 1 + sign))) {
        kind = token_kind::approximate;
        size += 1 + sign;
        while (is_digit(at(size)))
          ++size;
      }
    }
    return make(kind, size);
  }

  token scan_name() {
    std::size_t size = 0;
    while (begin_ + size < text_.size()) {
      const auto bytes = name_letter_bytes(text_, begin_ + size);
      if (bytes == 0)
        break;
      size += bytes;
    }
    if (at(0) == '_' && at(size) == '\'')
      return scan_quoted(token_kind::string, size);
    auto out = make(token_kind::name, size);
    out.keyword = find_keyword(text_.substr(begin_, size));
    return out;
  }

  token scan_symbol() {
    if (at(0) == '/' && at(1) == '*' && at(2) == '+') {
      is_in_hint_ = true;
      return symbol_of(3);
    }
    if (is_in_hint_ && at(0) == '*' && at(1) == '/') {
      is_in_hint_ = false;
      return symbol_of(2);
    }
    constexpr std::string_view pairs[] = {"<>", "<=", ">=", "!=", "||", "=>"};
    for (const auto pair : pairs)
      if (text_.substr(begin_, 2) == pair)
        return symbol_of(2);
    constexpr std::string_view singles = "()[]{},.;:=<>+-*/%|?^&@";
    if (singles.find(at(0)) != std::string_view::npos && at(0) != '\0')
      return symbol_of(1);
    return make(token_kind::malformed, std::max<std::size_t>(code_point_bytes(text_, begin_), 1));
  }

  token symbol_of(std::size_t size) {
    auto out = make(token_kind::symbol, size);
    out.sign = make_symbol(at(0), size > 1 ? at(1) : '\0', size > 2 ? at(2) : '\0');
    return out;
  }

  std::string_view text_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint32_t line_ = 1;
  std::uint32_t column_ = 1;
  bool is_in_hint_ = false;
};

void append_code_point(std::uint32_t point, std::string& out) {
  const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xC0U | point >> 6U);
    put(0x80U | (point & 0x3FU));
  } else if (point < 0x10000) {
    put(0xE0U | point >> 12U);
    put(0x80U | (point >> 6U & 0x3FU));
    put(0x80U | (point & 0x3FU));
  } else {
    put(0xF0U | point >> 18U);
    put(0x80U | (point >> 12U & 0x3FU));
    put(0x80U | (point >> 6U & 0x3FU));
    put(0x80U | (point & 0x3FU));
  }
}

int hex_digit(char letter) {
  if (is_digit(letter))
    return letter - '0';
  if (letter >= 'a' && letter <= 'f')
    return letter - 'a' + 10;
  if (letter >= 'A' && letter <= 'F')
    return letter - 'A' + 10;
  return -1;
}

} // namespace

token_list tokenize(std::string_view text) {
  HEADRACE_ASSERT(text.size() <= std::numeric_limits<std::uint32_t>::max(), "offsets fit 32 bits");
  return scanner(text).run();
}

std::string malformed_reason(std::string_view text, const token& bad) {
  const auto shown = text.substr(bad.at.begin, bad.at.end - bad.at.begin);
  if (shown.starts_with("/*"))
    return "comment without end: expected '*/'";
  for (std::size_t i = 0; i < shown.size();) {
    const auto size = code_point_bytes(shown, i);
    if (size == 0)
      return "text is not valid UTF-8";
    i += size;
  }
  if (shown == "``")
    return "empty name";
  if (shown.starts_with('`'))
    return "name without end: expected a closing '`'";
  if (shown.starts_with("$$"))
    return "body without end: expected a closing '$$'";
  if (shown == "\"")
    return "unexpected '\"': strings stand in single quotes, names in backticks";
  if (shown.find('\'') != std::string_view::npos)
    return "string without end: expected a closing quote";
  if (shown[0] >= 0)
    return "unexpected character: " + (shown[0] < ' ' || shown[0] == 0x7F
                                           ? "code " + std::to_string(int{shown[0]})
                                           : quote(shown, '\''));
  const auto point = code_point_at(shown, 0);
  if (point >= 0x2018 && point <= 0x201F)
    return "typographic quote " + std::string(shown) +
           ": strings stand in single quotes ('), names in backticks";
  return "unexpected character: " + std::string(shown);
}

std::string quoted_text(std::string_view quoted, char quote) {
  std::string out;
  const auto first = quoted.find(quote);
  for (auto i = first + 1; i + 1 < quoted.size(); ++i) {
    out.push_back(quoted[i]);
    if (quoted[i] == quote)
      ++i;
  }
  return out;
}

std::string name_value(std::string_view text, const token& from) {
  const auto shown = text.substr(from.at.begin, from.at.end - from.at.begin);
  return from.kind == token_kind::quoted_name ? quoted_text(shown, '`') : std::string(shown);
}

std::string string_value(std::string_view text, const token& from) {
  return quoted_text(text.substr(from.at.begin, from.at.end - from.at.begin), '\'');
}

std::optional<std::string> unescape_unicode(std::string_view text, char escape) {
  std::string out;
  std::uint32_t high_surrogate = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] != escape || (i + 1 < text.size() && text[i + 1] == escape)) {
      if (high_surrogate != 0)
        return std::nullopt;
      i += text[i] == escape ? 1 : 0;
      out.push_back(text[i++]);
      continue;
    }
    const bool is_long = i + 1 < text.size() && text[i + 1] == '+';
    const std::size_t digits = is_long ? 6 : 4;
    const auto begin = i + (is_long ? 2 : 1);
    std::uint32_t point = 0;
    if (begin + digits > text.size())
      return std::nullopt;
    for (std::size_t j = begin; j < begin + digits; ++j) {
      const auto digit = hex_digit(text[j]);
      if (digit < 0)
        return std::nullopt;
      point = point << 4U | static_cast<std::uint32_t>(digit);
    }
    i = begin + digits;
    const bool is_low = point >= 0xDC00 && point <= 0xDFFF;
    if (is_low != (high_surrogate != 0) || point > 0x10FFFF)
      return std::nullopt;
    if (point >= 0xD800 && point <= 0xDBFF) {
      high_surrogate = point;
      continue;
    }
    append_code_point(
        is_low ? 0x10000 + ((high_surrogate - 0xD800) << 10U) + (point - 0xDC00) : point, out);
    high_surrogate = 0;
  }
  if (high_surrogate != 0)
    return std::nullopt;
  return out;
}

std::string quote(std::string_view text, char quote) {
  std::string out(1, quote);
  for (const char letter : text) {
    out.push_back(letter);
    if (letter == quote)
      out.push_back(quote);
  }
  out.push_back(quote);
  return out;
}

std::string quote_name(std::string_view name) {
  bool is_plain = !name.empty() && !is_digit(name[0]) && !name.starts_with("$$");
  for (std::size_t i = 0; is_plain && i < name.size();) {
    const auto size = name_letter_bytes(name, i);
    is_plain = size > 0;
    i += size;
  }
  return is_plain && find_keyword(name) == kw::none ? std::string(name) : quote(name, '`');
}

} // namespace headrace::sql
