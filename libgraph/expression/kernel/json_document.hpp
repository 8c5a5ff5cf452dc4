#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::graph {

enum class json_kind : std::uint8_t { null, boolean, number, text, array, object };

/// One value of a document. Its children follow it, each with all that is below.
struct json_node {
  json_kind kind = json_kind::null;
  std::string_view key;  ///< of a member of an object
  std::string_view text; ///< without escapes; of a number and a boolean as it is written
  std::size_t end = 0;   ///< behind the last node below
  bool is_scalar() const { return kind != json_kind::array && kind != json_kind::object; }
};

/// JSON (RFC 8259) as a flat list of its values in the order of the text; numbers keep all their
/// digits. Used again for text after text without allocating.
class json_document {
public:
  json_document();
  ~json_document();
  json_document(const json_document&) = delete;
  json_document& operator=(const json_document&) = delete;

  /// @returns whether the text is JSON and nothing else
  bool parse(std::string_view text);
  /// The first one is the whole value.
  const std::vector<json_node>& nodes() const { return nodes_; }
  const json_node& at(std::size_t index) const { return nodes_[index]; }

  /// Appends a value without spaces, the members of objects by their names.
  void append_json(std::size_t index, std::string& out) const;
  /// Appends a scalar as JSON_VALUE shows it: a text without quotes.
  void append_scalar(std::size_t index, std::string& out) const;

private:
  struct parser;
  std::unique_ptr<parser> parser_;
  std::vector<json_node> nodes_;
};

/// Appends a text in quotes.
void append_json_text(std::string_view text, std::string& out);
/// Appends a number as Java's BigDecimal writes it: 1e3 is 1E+3, 1.50 stays.
void append_json_number(std::string_view written, std::string& out);

} // namespace headrace::graph
