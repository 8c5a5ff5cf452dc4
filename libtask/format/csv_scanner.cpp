#include "libtask/format/csv_scanner.hpp"

namespace headrace::task {

csv_scanner::csv_scanner(byte_view input, bool last, const csv_options& options)
    : input_(input), last_(last), delimiter_(options.delimiter),
      quote_(options.quote.value_or('\n')), escape_(options.escape.value_or('\n')),
      has_quote_(options.quote.has_value()), has_escape_(options.escape.has_value()),
      allow_newlines_(options.allow_newlines),
      specials_(input, {delimiter_, '\n', quote_, escape_}) {}

field_end csv_scanner::next_unusual(csv_field& out, std::size_t first_special) {
  out.is_quoted = first_special == at_ && at_ < input_.size() && is_quote(input_[at_]);
  const auto end = out.is_quoted ? next_quoted(out) : next_unquoted(out, first_special);
  line_ended_ |= end == field_end::line;
  return end;
}

field_end csv_scanner::next_unquoted(csv_field& out, std::size_t place) {
  auto segment = at_;
  const auto finish = [&](std::size_t end) {
    if (!out.is_copy) {
      out.text = input_.substr(segment, end - segment);
      return;
    }
    scratch_.append(input_.substr(segment, end - segment));
    out.text = scratch_;
  };
  for (;; place = next_special()) {
    if (place >= input_.size()) {
      if (!last_)
        return field_end::incomplete;
      finish(input_.size());
      at_ = input_.size();
      break;
    }
    const char letter = input_[place];
    if (letter == delimiter_) {
      finish(place);
      at_ = place + 1;
      return field_end::delimiter;
    }
    if (letter == '\n') {
      finish(place);
      at_ = place + 1;
      ++lines_;
      break;
    }
    if (is_escape(letter)) {
      if (place + 1 >= input_.size())
        return last_ ? fail("ends with an escape character") : field_end::incomplete;
      if (!out.is_copy)
        scratch_.clear();
      out.is_copy = true;
      scratch_.append(input_.substr(segment, place - segment));
      segment = place + 1;
      ignored_until_ = place + 2;
    }
  }
  if (out.text.ends_with('\r'))
    out.text.remove_suffix(1);
  return field_end::line;
}

field_end csv_scanner::next_quoted(csv_field& out) {
  auto segment = at_ + 1;
  scratch_.clear();
  for (;;) {
    const auto place = next_special();
    if (place >= input_.size())
      return last_ ? fail("quote that is never closed") : field_end::incomplete;
    const char letter = input_[place];
    if (is_escape(letter) && !is_quote(letter)) {
      if (place + 1 >= input_.size())
        return last_ ? fail("quote that is never closed") : field_end::incomplete;
      out.is_copy = true;
      scratch_.append(input_.substr(segment, place - segment));
      segment = place + 1;
      ignored_until_ = place + 2;
    } else if (is_quote(letter)) {
      if (place + 1 >= input_.size() && !last_)
        return field_end::incomplete; // perhaps doubled
      if (place + 1 >= input_.size() || !is_quote(input_[place + 1]))
        return close_quoted(out, place, segment);
      out.is_copy = true;
      scratch_.append(input_.substr(segment, place + 1 - segment));
      segment = place + 2;
      ignored_until_ = place + 2;
    } else if (letter == '\n') {
      ++lines_;
      if (!allow_newlines_) {
        at_ = place + 1;
        line_ended_ = true;
        return fail("quote that is not closed on its line (option 'allow-quoted-newlines' would "
                    "let it go on)");
      }
    }
  }
}

field_end csv_scanner::close_quoted(csv_field& out, std::size_t quote_at, std::size_t segment) {
  out.text = input_.substr(segment, quote_at - segment);
  if (out.is_copy) {
    scratch_.append(out.text);
    out.text = scratch_;
  }
  auto after = quote_at + 1;
  if (after < input_.size() && input_[after] == '\r') {
    if (after + 1 >= input_.size() && !last_)
      return field_end::incomplete;
    if (after + 1 >= input_.size() || input_[after + 1] == '\n')
      ++after;
  }
  if (after >= input_.size()) {
    at_ = input_.size();
    return field_end::line;
  }
  const char letter = input_[after];
  if (letter != delimiter_ && letter != '\n')
    return fail("text behind a closing quote");
  next_special(); // this one
  at_ = after + 1;
  if (letter == delimiter_)
    return field_end::delimiter;
  ++lines_;
  return field_end::line;
}

bool csv_scanner::skip_line() {
  for (;;) {
    const auto place = specials_.next();
    if (place >= input_.size()) {
      at_ = last_ ? input_.size() : at_;
      return last_;
    }
    if (input_[place] == '\n') {
      at_ = place + 1;
      ++lines_;
      return true;
    }
  }
}

} // namespace headrace::task
