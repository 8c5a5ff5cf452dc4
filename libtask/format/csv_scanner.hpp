#pragma once

#include "libtask/format/csv_options.hpp"
#include "libtask/format/special_scanner.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace headrace::task {

/// How a field of CSV ended.
enum class field_end : std::uint8_t {
  delimiter,  ///< another field of the record follows
  line,       ///< the record's last field
  incomplete, ///< the input ends inside the field
  malformed,  ///< `csv_scanner::fault` says why
};

struct csv_field {
  std::string_view
      text; ///< without quotes, and with doubled ones single; valid until the next field
  bool is_quoted = false;
  bool is_copy = false; ///< does not lie in the input
  std::size_t begin = 0;
};

/// Cuts CSV into fields, without knowing their types. Moves forward only.
class csv_scanner {
public:
  /// `last`: the input's end ends the record.
  csv_scanner(byte_view input, bool last, const csv_options& options);

  std::size_t at() const { return at_; }
  std::uint64_t lines() const { return lines_; }
  const char* fault() const { return fault_; }
  bool at_end() const { return at_ >= input_.size(); }
  char peek() const { return input_[at_]; }

  field_end next(csv_field& out) {
    out.begin = at_;
    out.is_quoted = false;
    out.is_copy = false;
    line_ended_ = false;
    const auto place = next_special();
    if (place < input_.size()) [[likely]] {
      const char letter = input_[place];
      if (letter == delimiter_ || letter == '\n') [[likely]]
        return end_unquoted(out, input_.substr(at_, place - at_), letter);
    }
    return next_unusual(out, place);
  }
  /// Moves behind the end of the line; false when the input ends before (and is not the last).
  bool skip_line();
  /// As `skip_line`, for the record whose field was returned last: its line may be behind already.
  bool skip_record() { return line_ended_ || skip_line(); }
  /// Moves over an empty line, if there is one here. Not at the end.
  bool skip_empty_line() {
    if (input_[at_] != '\n' && input_[at_] != '\r') [[likely]]
      return false;
    const auto rest = input_.substr(at_);
    return (rest.starts_with('\n') || rest.starts_with("\r\n")) && skip_line();
  }

private:
  /// Ends an unquoted field at its delimiter or line break, which stands behind `text`.
  field_end end_unquoted(csv_field& out, std::string_view text, char end) {
    at_ = static_cast<std::size_t>(text.data() - input_.data()) + text.size() + 1;
    out.text = text;
    if (end == delimiter_)
      return field_end::delimiter;
    if (text.ends_with('\r'))
      out.text.remove_suffix(1);
    ++lines_;
    line_ended_ = true;
    return field_end::line;
  }
  field_end next_unusual(csv_field& out, std::size_t first_special);
  field_end next_unquoted(csv_field& out, std::size_t place);
  field_end next_quoted(csv_field& out);
  field_end close_quoted(csv_field& out, std::size_t quote_at, std::size_t segment);
  field_end fail(const char* why) {
    fault_ = why;
    return field_end::malformed;
  }
  /// The next special character that was not escaped; the input's size when there is none.
  std::size_t next_special() {
    auto place = specials_.next();
    while (place < ignored_until_ && place < input_.size())
      [[unlikely]] place = specials_.next();
    return place;
  }
  bool is_quote(char letter) const { return has_quote_ && letter == quote_; }
  bool is_escape(char letter) const { return has_escape_ && letter == escape_; }

  byte_view input_;
  bool last_;
  char delimiter_;
  char quote_;
  char escape_;
  bool has_quote_;
  bool has_escape_;
  bool allow_newlines_;
  bool line_ended_ = false; ///< the field returned last was the last of its line
  std::size_t at_ = 0;
  std::size_t ignored_until_ = 0; ///< specials before it were escaped
  std::uint64_t lines_ = 0;
  const char* fault_ = "";
  special_scanner<4> specials_;
  std::string scratch_;
};

} // namespace headrace::task
