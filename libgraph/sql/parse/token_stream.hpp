#pragma once

#include "libgraph/sql/parse/lexer.hpp"
#include "libgraph/sql/parse/source_text.hpp"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::sql {

/// Walks over tokens for a parser that goes down recursively.
///
/// The first error is sticky: from there on the stream stands at its end, so every loop of the
/// parser ends by itself and nothing has to be handed up. `recover` goes on behind the next ';'.
/// What was asked for in vain at a place is kept, and becomes the "expected …" of an error there.
class token_stream {
public:
  /// @param view  what the spans of its tokens say of it
  explicit token_stream(std::string_view text, std::uint32_t view = 0);

  std::string_view text() const { return text_; }
  const token& peek(std::size_t ahead = 0) const;
  /// Returns the token and moves on.
  const token& take();
  bool is_at_end() const { return peek().kind == token_kind::end; }
  /// Where the next token stands, and the last one that was taken.
  source_span here() const { return peek().at; }
  source_span last() const;
  source_span since(source_span first) const { return join(first, last()); }
  std::size_t position() const { return position_; }
  /// Goes back to an earlier position of this statement.
  void rewind(std::size_t position);
  /// The index of the ')' of the '(' that is `ahead` tokens from here, relative to here.
  std::size_t closing(std::size_t ahead) const;

  // Questions, which leave a trace for errors …
  bool is(kw::word keyword);
  bool is(symbol sign);
  bool is(char sign) { return is(make_symbol(sign)); }
  bool is_any(std::initializer_list<kw::word> keywords);
  // … and such that do not.
  bool looks_like(kw::word keyword, std::size_t ahead = 0) const;
  bool looks_like(char sign, std::size_t ahead = 0) const;
  bool looks_like(symbol sign, std::size_t ahead = 0) const;

  bool accept(kw::word keyword);
  bool accept(char sign);
  bool accept(symbol sign);
  /// Takes all of the words or none.
  bool accept_all(std::initializer_list<kw::word> keywords);
  bool expect(kw::word keyword);
  bool expect(char sign);
  bool expect(symbol sign);
  bool expect_all(std::initializer_list<kw::word> keywords);

  /// Takes everything up to the next ';' (or the end), as it is written.
  source_span take_raw();

  /// Adds a kind of thing to what would be right here: "a name".
  void note_expected(std::string_view what);
  /// Adds words that would be right here, too, but are too many to be listed; one that is misspelt
  /// is found.
  void suggest(std::initializer_list<kw::word> keywords);
  /// Fails here: "expected …, found …".
  void fail_expected();
  void fail_expected(std::string_view what);
  void fail(diagnostic_kind kind, std::string message, source_span at);

  bool has_failed() const { return failure_.has_value(); }
  const std::optional<diagnostic>& failure() const { return failure_; }
  /// Forgets the failure and goes on behind the next ';'.
  void recover();
  /// Remembers that the last token was taken for a name where a keyword could have been meant, so
  /// that an error right behind it finds a misspelt keyword there.
  void mark_guess();

private:
  struct expectation {
    kw::word keyword = kw::none;
    symbol sign = 0;
    std::string_view what = {};
    bool is_hidden = false;
  };

  void expect_here(expectation wanted);
  std::string found_text(const token& found) const;
  std::string expected_text() const;
  std::string misspelling(const token& written, const std::vector<expectation>& wanted) const;

  std::string_view text_;
  token_list list_;
  std::size_t position_ = 0;
  std::size_t expected_at_ = 0; ///< the position that `expected_` is about
  std::vector<expectation> expected_;
  std::size_t guess_at_ = 0; ///< one behind the guess; 0: none
  std::vector<expectation> guess_expected_;
  std::optional<diagnostic> failure_;
  token end_; ///< what is seen after a failure
};

} // namespace headrace::sql
