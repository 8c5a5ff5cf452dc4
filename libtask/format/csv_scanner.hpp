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

  field_end next(csv_field& out);
  /// Moves behind the end of the line; false when the input ends before (and is not the last).
  bool skip_line();
  /// As `skip_line`, for the record whose field was returned last: its line may be behind already.
  bool skip_record() { return line_ended_ || skip_line(); }
  /// Moves over an empty line, if there is one here.
  bool skip_empty_line();

private:
  field_end next_unquoted(csv_field& out);
  field_end next_quoted(csv_field& out);
  field_end close_quoted(csv_field& out, std::size_t quote_at, std::size_t segment);
  field_end fail(const char* why) {
    fault_ = why;
    return field_end::malformed;
  }
  std::size_t next_special();
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
