#include "libtask/format/json_decoder.hpp"

#include "libtask/format/decode_input.hpp"
#include "libtask/format/json_field_plan.hpp"
#include "libtask/format/json_map_keys.hpp"
#include "libtask/format/plain_json_reader.hpp"

#include <simdjson.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headrace::task {
namespace {

using graph::batch_builder;
using graph::column_builder;
using graph::decode_origin;
using graph::decoded;
using graph::logical_type;
using graph::physical_type;
using simdjson::ondemand::json_type;

/// A value and, for rows inside it, the plans of their fields.
struct value_plan {
  explicit value_plan(const logical_type& of, bool is_in_rows = true)
      : type(&of), scalar(of), in_rows(is_in_rows) {
    const bool is_row = of.physical() == physical_type::row;
    if (is_row)
      fields.emplace(of);
    for (std::size_t i = 0; i < of.storage_child_count(); ++i)
      children.emplace_back(of.storage_child(i), in_rows && is_row);
  }
  const logical_type* type;
  scalar_reader scalar; ///< when the type is a scalar
  bool in_rows;         ///< and in no list or map: its strings can be shared
  std::optional<json_field_plan> fields;
  std::vector<value_plan> children;
};

std::string_view without_spaces(std::string_view token) {
  while (!token.empty() && (token.back() == ' ' || token.back() == '\t' || token.back() == '\r' ||
                            token.back() == '\n'))
    token.remove_suffix(1);
  return token;
}

/// Whether a token is, or begins, a value of JSON: the parser has not looked at all of it yet.
bool is_value(std::string_view token) {
  if (token.empty() || token == "true" || token == "false" || token == "null")
    return !token.empty();
  if (token[0] == '"' || token[0] == '{' || token[0] == '[')
    return true;
  const auto digits = [&] {
    const auto count = std::min(token.find_first_not_of("0123456789"), token.size());
    token.remove_prefix(count);
    return count > 0;
  };
  const auto take = [&](std::string_view one_of) {
    const bool is_there = !token.empty() && one_of.find(token[0]) != one_of.npos;
    token.remove_prefix(is_there ? 1 : 0);
    return is_there;
  };
  take("-");
  if (!digits() || (take(".") && !digits()))
    return false;
  if (take("eE")) {
    take("+-");
    if (!digits())
      return false;
  }
  return token.empty();
}

constexpr int plain_pause_max = 63;

/// Lets the strings of a column, and of rows in it, share the owner.
void share_strings(column_builder& out, const graph::buffer_ptr& owner) {
  if (is_character(out.type())) {
    out.share(owner);
  } else if (out.type().physical() == physical_type::row) {
    for (std::size_t i = 0; i < out.type().child_count(); ++i)
      share_strings(out.child(i), owner);
  }
}

class json_decoder final : public graph::decoder {
public:
  json_decoder(json_options options, graph::row_type_ptr type)
      : options_(std::move(options)), type_(std::move(type)), plan_(*type_) {
    if (plain_json_reader::is_for(*type_))
      plain_.emplace(*type_, options_.fail_on_missing_field);
  }

  result<decoded> decode(byte_view input, bool last, const decode_origin& origin,
                         std::size_t rows_max, const graph::buffer_ptr& owner,
                         batch_builder& out) override;

private:
  bool read_plain(byte_view input, decoded& done, batch_builder& out);
  bool decode_record(byte_view line, bool is_padded, batch_builder& out);
  template <class Builders>
  bool append_fields(value_plan& plan, simdjson::ondemand::object& object, std::size_t rows,
                     Builders&& builder_of);
  bool append_value(value_plan& plan, simdjson::ondemand::value value, column_builder& out);
  bool append_scalar(value_plan& plan, simdjson::ondemand::value& value, json_type kind,
                     column_builder& out);
  bool append_raw(simdjson::ondemand::value& value, json_type kind, column_builder& out);
  bool append_array(value_plan& plan, simdjson::ondemand::value& value, column_builder& out);
  bool append_map(value_plan& plan, simdjson::ondemand::value& value, column_builder& out);
  bool append_entry(value_plan& plan, simdjson::ondemand::field& field, std::string_view& key,
                    column_builder& out);
  bool append_map_again(value_plan& plan, const char* begin, const std::vector<bool>& is_last,
                        column_builder& out);
  template <class Element, class Container, class Append>
  bool append_elements(Container& from, column_builder& out, Append&& append);
  bool append_row(value_plan& plan, simdjson::ondemand::value& value, column_builder& out);
  bool read_key(simdjson::ondemand::field& field, std::string_view& out);

  bool fail(std::string reason, const char* at = nullptr);
  bool fail(simdjson::error_code code) {
    return fail(std::string("no JSON object: ") + simdjson::error_message(code));
  }
  bool mismatch(const logical_type& wanted, std::string_view token);
  /// NULL in place of a value that is another than wanted, where the options say so.
  bool append_null_instead(const logical_type& type, std::size_t rows, column_builder& out);

  json_options options_;
  graph::row_type_ptr type_;
  value_plan plan_;
  std::optional<plain_json_reader> plain_;
  int plain_misses_ = 0; ///< grows with each record in a row that had to be parsed
  int plain_pause_ = 0;  ///< records to parse before `plain_` is tried again
  simdjson::ondemand::parser parser_;
  std::string padded_;     ///< a line too near to the end of its input to be read in place
  bool can_share_ = false; ///< the input lies in the owner
  bool shared_ = false;    ///< and the current line is read in place
  const logical_type::field* current_field_ = nullptr; ///< of the outermost row
  std::vector<std::string_view> map_keys_;             ///< of the maps that are being read
  bool is_mismatch_ = false; ///< the fault is of a value that is well otherwise
  std::string reason_;
  byte_view line_;           ///< as it is parsed
  std::size_t fault_at_ = 0; ///< bytes into the line
};

result<decoded> json_decoder::decode(byte_view input, bool last, const decode_origin& origin,
                                     std::size_t rows_max, const graph::buffer_ptr& owner,
                                     batch_builder& out) {
  decoded done;
  done.bytes = byte_order_mark_bytes(input, origin);
  can_share_ = lies_in(input, owner);
  if (can_share_) {
    for (std::size_t i = 0; i < type_->child_count(); ++i)
      share_strings(out.column(i), owner);
  }
  const auto last_break = input.rfind('\n');
  while (out.size() < rows_max && done.bytes < input.size()) {
    if (last_break != byte_view::npos && done.bytes <= last_break && read_plain(input, done, out))
      continue;
    const auto end = std::min(input.find('\n', done.bytes), input.size());
    const bool has_break = end < input.size();
    if (!has_break && !last)
      break;
    const auto line = input.substr(done.bytes, end - done.bytes);
    if (!without_spaces(line).empty()) {
      const bool is_padded = end + simdjson::SIMDJSON_PADDING <= input.size();
      if (decode_record(line, is_padded, out)) {
        out.end_row();
      } else {
        out.discard_row();
        if (options_.on_malformed == graph::malformed_policy::fail)
          return malformed_record(origin, {done.bytes, done.lines, fault_at_ + 1}, reason_);
        ++done.skipped;
        note_malformed(origin, input, done.bytes, end, reason_);
      }
    }
    done.lines += has_break ? 1 : 0;
    done.bytes = has_break ? end + 1 : input.size();
  }
  return done;
}

/// Reads a record that is as most are; false when it must be parsed. A line break must follow.
bool json_decoder::read_plain(byte_view input, decoded& done, batch_builder& out) {
  if (!plain_ || plain_pause_ > 0) {
    plain_pause_ -= plain_ ? 1 : 0;
    return false;
  }
  const auto end = plain_->read(input, done.bytes, can_share_, out);
  if (!end) {
    out.discard_row();
    plain_misses_ = std::min(2 * plain_misses_ + 1, plain_pause_max);
    plain_pause_ = plain_misses_;
    return false;
  }
  plain_misses_ = 0;
  out.end_row();
  done.bytes = *end + 1;
  ++done.lines;
  return true;
}

bool json_decoder::decode_record(byte_view line, bool is_padded, batch_builder& out) {
  if (!is_padded) {
    padded_.assign(line);
    padded_.append(simdjson::SIMDJSON_PADDING, ' ');
    line_ = byte_view(padded_).substr(0, line.size());
  } else {
    line_ = line;
  }
  shared_ = can_share_ && is_padded;
  current_field_ = nullptr;
  simdjson::ondemand::document document;
  if (const auto code =
          parser_.iterate(line_.data(), line_.size(), line_.size() + simdjson::SIMDJSON_PADDING)
              .get(document))
    return fail(code);
  simdjson::ondemand::object object;
  if (const auto code = document.get_object().get(object))
    return fail(code);
  if (!append_fields(plan_, object, out.size(),
                     [&](std::size_t i) -> column_builder& { return out.column(i); }))
    return false;
  const char* behind = nullptr;
  if (document.current_location().get(behind) == simdjson::SUCCESS)
    return fail("text behind the object, one object a line is expected", behind);
  return true;
}

template <class Builders>
bool json_decoder::append_fields(value_plan& plan, simdjson::ondemand::object& object,
                                 std::size_t rows, Builders&& builder_of) {
  auto& fields = *plan.fields;
  const bool is_outermost = &plan == &plan_;
  fields.start_record();
  for (auto item : object) {
    simdjson::ondemand::field field;
    if (const auto code = std::move(item).get(field))
      return fail(code);
    std::string_view key;
    if (!read_key(field, key))
      return false;
    const auto found = fields.find(key);
    if (found < 0)
      continue;
    const auto index = static_cast<std::size_t>(found);
    auto& out = builder_of(index);
    if (!fields.mark(index))
      out.truncate(rows); // named twice: the last one counts
    if (is_outermost)
      current_field_ = &fields.type().fields()[index];
    if (!append_value(plan.children[index], field.value(), out) &&
        !append_null_instead(fields.type().fields()[index].type, rows, out))
      return false;
  }
  for (std::size_t i = 0; i < plan.children.size(); ++i) {
    if (fields.has(i))
      continue;
    const auto& missing = fields.type().fields()[i];
    if (options_.fail_on_missing_field || !missing.type.is_nullable())
      return fail("field `" + missing.name + "` is missing");
    builder_of(i).append_null();
  }
  return true;
}

bool json_decoder::read_key(simdjson::ondemand::field& field, std::string_view& out) {
  const char* begin = field.key().raw();
  const char* end = begin;
  while (*end != '"' && *end != '\\') // the parser has seen the closing quote
    ++end;
  if (*end == '"') {
    out = {begin, static_cast<std::size_t>(end - begin)};
    return true;
  }
  if (const auto code = field.unescaped_key().get(out))
    return fail(code);
  return true;
}

bool json_decoder::append_value(value_plan& plan, simdjson::ondemand::value value,
                                column_builder& out) {
  json_type kind{};
  if (const auto code = value.type().get(kind))
    return fail(code);
  if (kind == json_type::null) {
    const auto token = without_spaces(value.raw_json_token());
    if (token != "null" || !plan.type->is_nullable())
      return mismatch(*plan.type, token);
    out.append_null();
    return true;
  }
  switch (plan.type->physical()) {
  case physical_type::list:
    return append_array(plan, value, out);
  case physical_type::map:
    return append_map(plan, value, out);
  case physical_type::row:
    return append_row(plan, value, out);
  case physical_type::none:
    return mismatch(*plan.type, value.raw_json_token());
  default:
    return append_scalar(plan, value, kind, out);
  }
}

bool json_decoder::append_scalar(value_plan& plan, simdjson::ondemand::value& value, json_type kind,
                                 column_builder& out) {
  const auto& type = *plan.type;
  const auto token = without_spaces(value.raw_json_token());
  if (kind == json_type::string) {
    auto text = token.substr(1, token.size() - std::min<std::size_t>(token.size(), 2));
    bool in_place = shared_ && plan.in_rows;
    if (std::memchr(text.data(), '\\', text.size()) != nullptr) {
      in_place = false;
      if (const auto code = value.get_string().get(text))
        return fail(code);
    }
    return plan.scalar.append(text, in_place, out) || mismatch(type, token);
  }
  if (kind == json_type::object || kind == json_type::array) {
    if (!is_character(type))
      return mismatch(type, token);
    return append_raw(value, kind, out);
  }
  return plan.scalar.append(token, false, out) || mismatch(type, token);
}

/// A string column takes an object or array as its text.
bool json_decoder::append_raw(simdjson::ondemand::value& value, json_type kind,
                              column_builder& out) {
  std::string_view text;
  simdjson::error_code code = simdjson::SUCCESS;
  if (kind == json_type::object) {
    simdjson::ondemand::object object;
    code = value.get_object().get(object);
    if (!code)
      code = object.raw_json().get(text);
  } else {
    simdjson::ondemand::array array;
    code = value.get_array().get(array);
    if (!code)
      code = array.raw_json().get(text);
  }
  if (code)
    return fail(code);
  out.append_string(without_spaces(text));
  return true;
}

bool json_decoder::append_array(value_plan& plan, simdjson::ondemand::value& value,
                                column_builder& out) {
  simdjson::ondemand::array array;
  const auto token = value.raw_json_token();
  if (value.get_array().get(array))
    return mismatch(*plan.type, token);
  return append_elements<simdjson::ondemand::value>(array, out, [&](auto& element) {
    const auto size = out.child(0).size();
    return append_value(plan.children[0], element, out.child(0)) ||
           append_null_instead(*plan.children[0].type, size, out.child(0));
  });
}

bool json_decoder::append_map(value_plan& plan, simdjson::ondemand::value& value,
                              column_builder& out) {
  simdjson::ondemand::object object;
  const auto token = value.raw_json_token();
  if (value.get_object().get(object))
    return mismatch(*plan.type, token);
  const auto first = map_keys_.size(); // behind those of maps around this one
  const bool is_read = append_elements<simdjson::ondemand::field>(object, out, [&](auto& field) {
    std::string_view key;
    if (!append_entry(plan, field, key, out))
      return false;
    map_keys_.push_back(key);
    return true;
  });
  const auto keys = std::span(map_keys_).subspan(first);
  const auto last = is_read && keys.size() > 1 ? last_of_equal_keys(*plan.children[0].type, keys)
                                               : std::vector<bool>();
  map_keys_.resize(first);
  if (last.empty())
    return is_read;
  out.truncate(out.size() - 1);
  return append_map_again(plan, token.data(), last, out);
}

bool json_decoder::append_entry(value_plan& plan, simdjson::ondemand::field& field,
                                std::string_view& key, column_builder& out) {
  auto& keys = plan.children[0];
  if (!read_key(field, key))
    return false;
  if (!keys.scalar.append(key, false, out.child(0))) {
    mismatch(*keys.type, key);
    is_mismatch_ = true; // the key stands without its quotes here
    return false;
  }
  const auto size = out.child(1).size();
  return append_value(plan.children[1], field.value(), out.child(1)) ||
         append_null_instead(*plan.children[1].type, size, out.child(1));
}

/// Reads a map from its text, without the entries whose keys come again: the parser at hand has
/// passed them, and has no room for their texts once more.
bool json_decoder::append_map_again(value_plan& plan, const char* begin,
                                    const std::vector<bool>& is_last, column_builder& out) {
  std::string text(begin, line_.data() + line_.size());
  const auto size = text.size();
  text.append(simdjson::SIMDJSON_PADDING, ' ');
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document;
  simdjson::ondemand::object object;
  if (const auto code = parser.iterate(text.data(), size, text.size()).get(document))
    return fail(code);
  if (const auto code = document.get_object().get(object))
    return fail(code);
  const bool was_shared = std::exchange(shared_, false);
  std::size_t next = 0;
  const bool is_read = append_elements<simdjson::ondemand::field>(object, out, [&](auto& field) {
    std::string_view key;
    return !is_last[next++] || append_entry(plan, field, key, out);
  });
  shared_ = was_shared;
  return is_read;
}

/// Appends one list of what an array or object holds.
template <class Element, class Container, class Append>
bool json_decoder::append_elements(Container& from, column_builder& out, Append&& append) {
  out.begin_list();
  for (auto item : from) {
    Element element;
    if (const auto code = std::move(item).get(element))
      return fail(code);
    if (!append(element))
      return false;
  }
  out.end_list();
  return true;
}

bool json_decoder::append_row(value_plan& plan, simdjson::ondemand::value& value,
                              column_builder& out) {
  simdjson::ondemand::object object;
  const auto token = value.raw_json_token();
  if (value.get_object().get(object))
    return mismatch(*plan.type, token);
  if (!append_fields(plan, object, out.size(),
                     [&](std::size_t i) -> column_builder& { return out.child(i); }))
    return false;
  out.end_row();
  return true;
}

bool json_decoder::fail(std::string reason, const char* at) {
  is_mismatch_ = false;
  reason_ = std::move(reason);
  fault_at_ = at >= line_.data() && at <= line_.data() + line_.size()
                  ? static_cast<std::size_t>(at - line_.data())
                  : 0;
  return false;
}

bool json_decoder::mismatch(const logical_type& wanted, std::string_view token) {
  const auto where =
      current_field_ == nullptr ? std::string() : "field `" + current_field_->name + "` ";
  fail(where + "wants " + wanted.to_sql() + ", found " + excerpt(without_spaces(token)),
       token.data());
  is_mismatch_ = is_value(without_spaces(token));
  return false;
}

bool json_decoder::append_null_instead(const logical_type& type, std::size_t rows,
                                       column_builder& out) {
  if (!options_.nulls_fields || !is_mismatch_ || !type.is_nullable())
    return false;
  out.truncate(rows);
  out.append_null();
  return true;
}

} // namespace

result<std::unique_ptr<graph::decoder>> make_json_decoder(json_options options,
                                                          graph::row_type_ptr type) {
  HEADRACE_CHECK(check_map_keys(*type));
  return std::unique_ptr<graph::decoder>(
      std::make_unique<json_decoder>(std::move(options), std::move(type)));
}

} // namespace headrace::task
