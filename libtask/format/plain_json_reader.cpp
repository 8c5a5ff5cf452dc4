#include "libtask/format/plain_json_reader.hpp"

#include "libtask/format/json_string.hpp"

#include <algorithm>
#include <array>

// All loops end at the line break, which no token holds, so that none looks for the input's end.
namespace headrace::task {
namespace {

using graph::batch_builder;
using graph::column_builder;
using graph::physical_type;

/// Levels of what is read, and of what is passed over: together far below the whole parser's limit.
constexpr std::size_t depth_max = 64;

/// Whether a row type holds scalars and such rows only.
bool holds_plain(const graph::logical_type& row, std::size_t depth) {
  return depth < depth_max &&
         std::all_of(row.fields().begin(), row.fields().end(), [&](const auto& field) {
           return is_scalar(field.type) || (field.type.physical() == physical_type::row &&
                                            holds_plain(field.type, depth + 1));
         });
}

const char* skip_spaces(const char* at) {
  if (static_cast<unsigned char>(*at) > ' ') [[likely]]
    return at;
  while (*at == ' ' || *at == '\t' || *at == '\r')
    ++at;
  return at;
}

constexpr std::array<bool, 256> make_number_letters() {
  std::array<bool, 256> out{};
  for (const char letter : std::string_view("0123456789+-.eE"))
    out[static_cast<unsigned char>(letter)] = true;
  return out;
}
constexpr auto number_letters = make_number_letters();

const char* end_of_number(const char* at) {
  while (number_letters[static_cast<unsigned char>(*at)])
    ++at;
  return at;
}

/// The end of a word at `at`; null when another text stands there.
inline const char* end_of_word(const char* at, std::string_view word) {
  for (const char letter : word) {
    if (*at++ != letter)
      return nullptr;
  }
  return at;
}

const char* end_of_literal(const char* at) {
  switch (*at) {
  case 't':
    return end_of_word(at, "true");
  case 'f':
    return end_of_word(at, "false");
  case 'n':
    return end_of_word(at, "null");
  default:
    return nullptr;
  }
}

bool starts_number(char letter) { return letter == '-' || (letter >= '0' && letter <= '9'); }

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

const char* skip_elements(const char* at, const char* end, std::size_t depth);

/// The end of a value that nobody reads, inside of `depth` others such.
const char* skip_value(const char* at, const char* end, std::size_t depth) {
  if (*at == '"') {
    const auto* close = scan_string(at, end).end;
    return close == nullptr ? nullptr : close + 1;
  }
  if (*at == '{' || *at == '[')
    return depth < depth_max ? skip_elements(at, end, depth + 1) : nullptr;
  return starts_number(*at) ? end_of_number(at) : end_of_literal(at);
}

/// The end of the object or array that opens at `at`.
const char* skip_elements(const char* at, const char* end, std::size_t depth) {
  const bool is_object = *at == '{';
  const char close = is_object ? '}' : ']';
  at = skip_spaces(at + 1);
  if (*at == close)
    return at + 1;
  while (true) {
    if (is_object) {
      const auto* name_end = *at == '"' ? scan_string(at, end).end : nullptr;
      if (name_end == nullptr)
        return nullptr;
      at = skip_spaces(name_end + 1);
      if (*at != ':')
        return nullptr;
      at = skip_spaces(at + 1);
    }
    at = skip_value(at, end, depth);
    if (at == nullptr)
      return nullptr;
    at = skip_spaces(at);
    if (*at == close)
      return at + 1;
    if (*at != ',')
      return nullptr;
    at = skip_spaces(at + 1);
  }
}

} // namespace

plain_json_reader::row_plan::row_plan(const graph::logical_type& type) : fields(type) {
  for (const auto& field : type.fields()) {
    const bool is_row = field.type.physical() == physical_type::row;
    values.push_back(
        {scalar_reader(field.type), is_row ? std::make_unique<row_plan>(field.type) : nullptr});
  }
}

plain_json_reader::plain_json_reader(const graph::logical_type& type, bool fail_on_missing_field)
    : plan_(type), fail_on_missing_field_(fail_on_missing_field) {}

bool plain_json_reader::is_for(const graph::logical_type& type) { return holds_plain(type, 0); }

std::optional<std::size_t> plain_json_reader::read(byte_view input, std::size_t at, bool shares,
                                                   batch_builder& out) {
  end_ = input.data() + input.size();
  shares_ = shares;
  const auto* place = skip_spaces(input.data() + at);
  if (*place != '{')
    return std::nullopt;
  place =
      read_object(place, plan_, [&](std::size_t i) -> column_builder& { return out.column(i); });
  if (place == nullptr)
    return std::nullopt;
  place = skip_spaces(place);
  if (*place != '\n')
    return std::nullopt;
  return static_cast<std::size_t>(place - input.data());
}

/// Reads the object that opens at `at`. @returns its end; null when it is left to the whole parser
template <class Builders>
const char* plain_json_reader::read_object(const char* at, row_plan& plan,
                                           const Builders& builder_of) {
  plan.fields.start_record();
  at = skip_spaces(at + 1);
  bool more = *at != '}';
  while (more) {
    at = read_field(at, plan, builder_of);
    if (at == nullptr)
      return nullptr;
    at = skip_spaces(at);
    more = *at == ',';
    if (more)
      at = skip_spaces(at + 1);
    else if (*at != '}')
      return nullptr;
  }
  return plan.fields.has_all() || fill_missing(plan, builder_of) ? at + 1 : nullptr;
}

/// Reads `"name": value`. @returns its end; null when it is left to the whole parser
template <class Builders>
const char* plain_json_reader::read_field(const char* at, row_plan& plan,
                                          const Builders& builder_of) {
  if (*at != '"')
    return nullptr;
  int found = -1;
  if (const auto bytes = plan.fields.find_guessed(++at, end_, found); bytes > 0) {
    at += bytes;
  } else {
    const auto name = scan_string(at - 1, end_);
    if (name.end == nullptr || name.has_escapes)
      return nullptr;
    found = plan.fields.find(between(at, name.end));
    at = name.end + 1;
  }
  at = skip_spaces(at);
  if (*at != ':')
    return nullptr;
  at = skip_spaces(at + 1);
  if (found < 0)
    return skip_value(at, end_, 0);
  const auto index = static_cast<std::size_t>(found);
  if (!plan.fields.mark(index))
    return nullptr; // named twice
  return read_value(at, plan.values[index], builder_of(index));
}

const char* plain_json_reader::read_value(const char* at, value_plan& plan, column_builder& out) {
  if (*at == 'n') {
    const auto* end = end_of_word(at, "null");
    if (end == nullptr || !plan.scalar.type().is_nullable())
      return nullptr;
    out.append_null();
    return end;
  }
  if (plan.row != nullptr) {
    const auto* end =
        *at != '{' ? nullptr : read_object(at, *plan.row, [&](std::size_t i) -> column_builder& {
          return out.child(i);
        });
    if (end != nullptr)
      out.end_row();
    return end;
  }
  if (*at == '"') {
    const auto token = scan_string(at, end_);
    if (token.end == nullptr)
      return nullptr;
    const auto text = between(at + 1, token.end);
    const bool is_read = token.has_escapes
                             ? plan.scalar.append(unescape(text, unescaped_), false, out)
                             : plan.scalar.append(text, shares_, out);
    return is_read ? token.end + 1 : nullptr;
  }
  if (const auto* end = plan.scalar.append_digits(at, end_, out); end != nullptr)
    return end;
  const auto* end = starts_number(*at) ? end_of_number(at) : end_of_literal(at);
  if (end == nullptr || !plan.scalar.append(between(at, end), shares_, out))
    return nullptr;
  return end;
}

template <class Builders>
bool plain_json_reader::fill_missing(row_plan& plan, const Builders& builder_of) {
  for (std::size_t i = 0; i < plan.values.size(); ++i) {
    if (plan.fields.has(i))
      continue;
    if (fail_on_missing_field_ || !plan.values[i].scalar.type().is_nullable())
      return false;
    builder_of(i).append_null();
  }
  return true;
}

} // namespace headrace::task
