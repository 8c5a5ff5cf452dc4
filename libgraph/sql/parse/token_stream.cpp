#include "libgraph/sql/parse/token_stream.hpp"

#include "libactors/base/text.hpp"

#include <algorithm>

namespace headrace::sql {
namespace {

constexpr std::size_t expectations_shown_max = 8;

std::string sign_text(symbol sign) {
  std::string out;
  for (; sign != 0; sign >>= 8U)
    out.push_back(static_cast<char>(sign & 0xFFU));
  return out;
}

} // namespace

token_stream::token_stream(std::string_view text, std::uint32_t view)
    : text_(text), list_(tokenize(text)) {
  for (auto& each : list_.tokens)
    each.at.view = view;
  end_ = list_.tokens.back();
}

const token& token_stream::peek(std::size_t ahead) const {
  if (failure_)
    return end_;
  return list_.tokens[std::min(position_ + ahead, list_.tokens.size() - 1)];
}

const token& token_stream::take() {
  if (failure_)
    return end_;
  const auto& out = list_.tokens[position_];
  if (out.kind == token_kind::malformed)
    fail(diagnostic_kind::syntax, malformed_reason(text_, out), out.at);
  else if (position_ + 1 < list_.tokens.size())
    ++position_;
  return out;
}

source_span token_stream::last() const {
  return position_ == 0 ? list_.tokens.front().at : list_.tokens[position_ - 1].at;
}

void token_stream::rewind(std::size_t position) {
  if (!failure_)
    position_ = position;
}

std::size_t token_stream::closing(std::size_t ahead) const {
  const auto at = std::min(position_ + ahead, list_.tokens.size() - 1);
  return list_.closing[at] - position_;
}

bool token_stream::looks_like(kw::word keyword, std::size_t ahead) const {
  return peek(ahead).keyword == keyword;
}
bool token_stream::looks_like(char sign, std::size_t ahead) const {
  return looks_like(make_symbol(sign), ahead);
}
bool token_stream::looks_like(symbol sign, std::size_t ahead) const {
  return peek(ahead).sign == sign;
}

void token_stream::expect_here(expectation wanted) {
  if (failure_)
    return;
  if (expected_at_ != position_) {
    expected_at_ = position_;
    expected_.clear();
  }
  expected_.push_back(wanted);
}

bool token_stream::is(kw::word keyword) {
  if (looks_like(keyword))
    return true;
  expect_here({.keyword = keyword});
  return false;
}

bool token_stream::is(symbol sign) {
  if (looks_like(sign))
    return true;
  expect_here({.sign = sign});
  return false;
}

bool token_stream::is_any(std::initializer_list<kw::word> keywords) {
  return std::any_of(keywords.begin(), keywords.end(),
                     [&](kw::word keyword) { return is(keyword); });
}

bool token_stream::accept(kw::word keyword) {
  if (!is(keyword))
    return false;
  take();
  return true;
}
bool token_stream::accept(char sign) { return accept(make_symbol(sign)); }
bool token_stream::accept(symbol sign) {
  if (!is(sign))
    return false;
  take();
  return true;
}

bool token_stream::accept_all(std::initializer_list<kw::word> keywords) {
  std::size_t ahead = 0;
  for (const auto keyword : keywords) {
    if (!looks_like(keyword, ahead)) {
      if (ahead == 0)
        expect_here({.keyword = keyword});
      return false;
    }
    ++ahead;
  }
  for (; ahead > 0; --ahead)
    take();
  return true;
}

bool token_stream::expect(kw::word keyword) {
  if (accept(keyword))
    return true;
  fail_expected();
  return false;
}
bool token_stream::expect(char sign) { return expect(make_symbol(sign)); }
bool token_stream::expect(symbol sign) {
  if (accept(sign))
    return true;
  fail_expected();
  return false;
}
bool token_stream::expect_all(std::initializer_list<kw::word> keywords) {
  return std::all_of(keywords.begin(), keywords.end(),
                     [&](kw::word keyword) { return expect(keyword); });
}

source_span token_stream::take_raw() {
  const auto first = here();
  auto out = first;
  out.end = first.begin;
  while (!failure_ && !is_at_end() && !looks_like(';')) {
    const auto& next = list_.tokens[position_];
    // Any letters may stand here, but a quote without end takes the ';' with it.
    constexpr std::uint32_t letter_bytes_max = 4;
    if (next.kind == token_kind::malformed && next.at.end - next.at.begin > letter_bytes_max) {
      take();
      break;
    }
    out = join(out, next.at);
    ++position_;
  }
  return out;
}

void token_stream::note_expected(std::string_view what) { expect_here({.what = what}); }

void token_stream::suggest(std::initializer_list<kw::word> keywords) {
  for (const auto keyword : keywords)
    expect_here({.keyword = keyword, .is_hidden = true});
}

void token_stream::mark_guess() {
  // What was asked for at the guess is what was asked for before it was taken.
  if (failure_ || expected_at_ + 1 != position_)
    return;
  guess_at_ = position_;
  guess_expected_ = expected_;
}

std::string token_stream::found_text(const token& found) const {
  if (found.kind == token_kind::end)
    return "the end of the text";
  constexpr std::size_t shown_max = 40;
  auto shown = text_.substr(found.at.begin, found.at.end - found.at.begin);
  std::string tail;
  if (shown.size() > shown_max) {
    auto size = shown_max;
    while ((static_cast<unsigned char>(shown[size]) & 0xC0U) == 0x80U)
      --size;
    shown = shown.substr(0, size);
    tail = "...";
  }
  if (is_reserved(found.keyword))
    return "the reserved word " + in_capitals(shown);
  if (found.kind == token_kind::string || found.kind == token_kind::quoted_name)
    return std::string(shown) + tail;
  return "'" + std::string(shown) + tail + "'";
}

std::string token_stream::expected_text() const {
  std::vector<std::string> things;
  const auto add = [&](std::string text) {
    if (std::find(things.begin(), things.end(), text) == things.end())
      things.push_back(std::move(text));
  };
  // What is rather a thing than a word says more, so it comes first.
  for (const auto& each : expected_)
    if (!each.what.empty())
      add(std::string(each.what));
  for (const auto& each : expected_)
    if (each.sign != 0)
      add("'" + sign_text(each.sign) + "'");
  for (const auto& each : expected_)
    if (each.keyword != kw::none && !each.is_hidden)
      add(std::string(text_of(each.keyword)));
  std::string out;
  const auto shown = std::min(things.size(), expectations_shown_max);
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0)
      out += i + 1 == things.size() ? " or " : ", ";
    out += things[i];
  }
  return things.size() > shown ? out + " …" : out;
}

std::string token_stream::misspelling(const token& written,
                                      const std::vector<expectation>& wanted) const {
  if (written.kind != token_kind::name)
    return {};
  constexpr std::size_t length_min = 3; // shorter words are near to anything
  std::vector<std::string_view> words;
  for (const auto& each : wanted)
    if (each.keyword != kw::none && text_of(each.keyword).size() >= length_min)
      words.push_back(text_of(each.keyword));
  const auto shown = in_capitals(text_.substr(written.at.begin, written.at.end - written.at.begin));
  if (shown.size() < length_min)
    return {};
  return std::string(nearest_name(shown, words));
}

void token_stream::fail_expected() {
  if (failure_)
    return;
  const auto& found = peek();
  if (found.kind == token_kind::malformed) {
    fail(diagnostic_kind::syntax, malformed_reason(text_, found), found.at);
    return;
  }
  if (expected_at_ != position_)
    expected_.clear();
  if (guess_at_ == position_ && guess_at_ > 0) {
    const auto& guess = list_.tokens[guess_at_ - 1];
    if (const auto meant = misspelling(guess, guess_expected_); !meant.empty()) {
      fail(diagnostic_kind::syntax,
           "expected " + meant + ", found " + found_text(guess) + ", which is near to it",
           guess.at);
      return;
    }
  }
  auto message = "expected " + expected_text() + ", found " + found_text(found);
  if (const auto meant = misspelling(found, expected_); !meant.empty())
    message += ", did you mean " + meant;
  const bool wants_name =
      std::any_of(expected_.begin(), expected_.end(),
                  [](const expectation& each) { return each.what.find("name") != each.what.npos; });
  if (wants_name && is_reserved(found.keyword))
    message += "; as a name it stands in backticks: `" +
               std::string(text_.substr(found.at.begin, found.at.end - found.at.begin)) + "`";
  fail(diagnostic_kind::syntax, std::move(message), found.at);
}

void token_stream::fail_expected(std::string_view what) {
  note_expected(what);
  fail_expected();
}

void token_stream::fail(diagnostic_kind kind, std::string message, source_span at) {
  if (!failure_)
    failure_ = diagnostic{kind, std::move(message), at};
}

void token_stream::recover() {
  failure_.reset();
  expected_.clear();
  guess_at_ = 0;
  while (list_.tokens[position_].kind != token_kind::end) {
    if (list_.tokens[position_++].sign == make_symbol(';'))
      return;
  }
}

} // namespace headrace::sql
