#include "libgraph/expression/kernel/json_document.hpp"

#include "libgraph/types/value_text.hpp"

#include <simdjson.h>

#include <algorithm>
#include <type_traits>

namespace headrace::graph {

namespace ondemand = simdjson::ondemand;

namespace {

/// As deep as other readers of JSON go (Jackson, by which Flink reads it): each level is a call.
constexpr int depth_max = 1000;

/// Appends a value and all that is below; false when it is no JSON, or too deep.
template <class Value>
bool add(Value&& value, std::string_view key, std::vector<json_node>& nodes, int depth = 1) {
  if (depth > depth_max)
    return false;
  const auto index = nodes.size();
  nodes.push_back({json_kind::null, key, {}, 0});
  ondemand::json_type type{};
  if (value.type().get(type) != simdjson::SUCCESS)
    return false;
  const auto trimmed = [](std::string_view token) {
    return token.substr(0, token.find_last_not_of(" \t\r\n") + 1);
  };
  switch (type) {
  case ondemand::json_type::array:
    nodes[index].kind = json_kind::array;
    if constexpr (!std::is_same_v<std::decay_t<Value>, ondemand::document>) {
      ondemand::array array;
      if (value.get_array().get(array) != simdjson::SUCCESS)
        return false;
      for (auto each : array) {
        ondemand::value item;
        if (std::move(each).get(item) != simdjson::SUCCESS || !add(item, {}, nodes, depth + 1))
          return false;
      }
    }
    break;
  case ondemand::json_type::object:
    nodes[index].kind = json_kind::object;
    if constexpr (!std::is_same_v<std::decay_t<Value>, ondemand::document>) {
      ondemand::object object;
      if (value.get_object().get(object) != simdjson::SUCCESS)
        return false;
      for (auto each : object) {
        ondemand::field field;
        std::string_view name;
        if (std::move(each).get(field) != simdjson::SUCCESS ||
            field.unescaped_key().get(name) != simdjson::SUCCESS ||
            !add(field.value(), name, nodes, depth + 1))
          return false;
      }
    }
    break;
  case ondemand::json_type::string:
    nodes[index].kind = json_kind::text;
    if (value.get_string().get(nodes[index].text) != simdjson::SUCCESS)
      return false;
    break;
  case ondemand::json_type::number: {
    nodes[index].kind = json_kind::number;
    std::string_view token;
    if constexpr (std::is_same_v<std::decay_t<Value>, ondemand::document>) {
      if (value.raw_json_token().get(token) != simdjson::SUCCESS)
        return false;
    } else {
      token = value.raw_json_token();
    }
    nodes[index].text = trimmed(token);
    // Also of more digits than any machine's number has.
    double number = 0;
    const auto read = value.get_double().get(number);
    if (read != simdjson::SUCCESS && read != simdjson::NUMBER_OUT_OF_RANGE)
      return false;
    break;
  }
  case ondemand::json_type::boolean: {
    nodes[index].kind = json_kind::boolean;
    bool flag = false;
    if (value.get_bool().get(flag) != simdjson::SUCCESS)
      return false;
    nodes[index].text = flag ? "true" : "false";
    break;
  }
  default: {
    bool is_null = false;
    if (value.is_null().get(is_null) != simdjson::SUCCESS || !is_null)
      return false;
  }
  }
  nodes[index].end = nodes.size();
  return true;
}

} // namespace

struct json_document::parser {
  ondemand::parser simd;
  std::string padded;
};

json_document::json_document() : parser_(std::make_unique<parser>()) {}
json_document::~json_document() = default;

bool json_document::parse(std::string_view text) {
  nodes_.clear();
  parser_->padded.assign(text);
  parser_->padded.resize(text.size() + simdjson::SIMDJSON_PADDING);
  ondemand::document document;
  if (parser_->simd.iterate(parser_->padded.data(), text.size(), parser_->padded.size())
          .get(document) != simdjson::SUCCESS)
    return false;
  bool is_scalar = false;
  if (document.is_scalar().get(is_scalar) != simdjson::SUCCESS)
    return false;
  if (is_scalar) {
    if (!add(document, {}, nodes_))
      return false;
  } else {
    ondemand::value value;
    if (document.get_value().get(value) != simdjson::SUCCESS || !add(value, {}, nodes_))
      return false;
  }
  const char* rest = nullptr;
  return document.current_location().get(rest) == simdjson::OUT_OF_BOUNDS;
}

void json_document::append_scalar(std::size_t index, std::string& out) const {
  const auto& node = nodes_[index];
  if (node.kind == json_kind::number)
    append_json_number(node.text, out);
  else
    out += node.kind == json_kind::null ? "null" : node.text;
}

void json_document::append_json(std::size_t index, std::string& out) const {
  const auto& node = nodes_[index];
  if (node.kind == json_kind::text) {
    append_json_text(node.text, out);
    return;
  }
  if (node.is_scalar()) {
    append_scalar(index, out);
    return;
  }
  std::vector<std::size_t> children;
  for (auto i = index + 1; i < node.end; i = nodes_[i].end)
    children.push_back(i);
  const bool is_object = node.kind == json_kind::object;
  if (is_object)
    std::stable_sort(children.begin(), children.end(), [&](std::size_t left, std::size_t right) {
      return nodes_[left].key < nodes_[right].key;
    });
  // Of members with one name the last one counts.
  if (is_object) {
    const auto last = std::unique(children.rbegin(), children.rend(),
                                  [&](std::size_t later, std::size_t earlier) {
                                    return nodes_[later].key == nodes_[earlier].key;
                                  });
    children.erase(children.begin(), last.base());
  }
  out += is_object ? '{' : '[';
  for (std::size_t i = 0; i < children.size(); ++i) {
    out += i > 0 ? "," : "";
    if (is_object) {
      append_json_text(nodes_[children[i]].key, out);
      out += ':';
    }
    append_json(children[i], out);
  }
  out += is_object ? '}' : ']';
}

void append_json_text(std::string_view text, std::string& out) {
  constexpr std::string_view escaped_letters = "\"\\\b\f\n\r\t";
  constexpr std::string_view escapes = "\"\\bfnrt";
  constexpr std::string_view digits = "0123456789abcdef";
  out += '"';
  for (const char each : text) {
    const auto at = escaped_letters.find(each);
    const auto byte = static_cast<unsigned char>(each);
    if (at != escaped_letters.npos) {
      out += '\\';
      out += escapes[at];
    } else if (byte < 0x20) {
      out += "\\u00";
      out += digits[byte >> 4U];
      out += digits[byte & 15U];
    } else {
      out += each;
    }
  }
  out += '"';
}

void append_json_number(std::string_view written, std::string& out) {
  const auto mark = std::min(written.find_first_of("eE"), written.size());
  const auto point = written.find('.');
  if (mark == written.size() && point == written.npos) {
    out += written;
    return;
  }
  auto power = written.substr(std::min(mark + 1, written.size()));
  if (power.starts_with('+'))
    power.remove_prefix(1);
  const auto exponent = parse_integer<std::int32_t>(power).value_or(0);
  std::string digits(written.substr(0, mark));
  const bool is_negative = digits.starts_with('-');
  digits.erase(0, is_negative ? 1 : 0);
  std::int64_t scale = -std::int64_t{exponent};
  if (const auto at = digits.find('.'); at != digits.npos) {
    scale += static_cast<std::int64_t>(digits.size() - at - 1);
    digits.erase(at, 1);
  }
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  const auto adjusted = static_cast<std::int64_t>(digits.size()) - 1 - scale;
  out += is_negative ? "-" : "";
  if (scale >= 0 && adjusted >= -6) {
    const auto behind = static_cast<std::size_t>(scale);
    if (digits.size() <= behind)
      digits.insert(0, behind + 1 - digits.size(), '0');
    if (behind > 0)
      digits.insert(digits.size() - behind, ".");
    out += digits;
    return;
  }
  out += digits[0];
  if (digits.size() > 1)
    out += '.';
  out.append(digits, 1);
  out += 'E';
  out += adjusted >= 0 ? "+" : "";
  append_integer(adjusted, out);
}

} // namespace headrace::graph
