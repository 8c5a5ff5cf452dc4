#include "libtask/format/flat_json_reader.hpp"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <bit>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

// All loops end at the line break, which no token holds, so that none looks for the input's end.
namespace headrace::task {
namespace {

using graph::batch_builder;

const char* skip_spaces(const char* at) {
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
const char* end_of_word(const char* at, std::string_view word) {
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

} // namespace

flat_json_reader::flat_json_reader(const graph::logical_type& type, bool fail_on_missing_field)
    : fields_(type), fail_on_missing_field_(fail_on_missing_field) {
  for (const auto& field : type.fields())
    values_.emplace_back(field.type);
}

bool flat_json_reader::is_for(const graph::logical_type& type) {
  return std::all_of(type.fields().begin(), type.fields().end(),
                     [](const auto& field) { return is_scalar(field.type); });
}

std::optional<std::size_t> flat_json_reader::read(byte_view input, std::size_t at, bool shares,
                                                  batch_builder& out) {
  end_ = input.data() + input.size();
  fields_.start_record();
  const auto* place = skip_spaces(input.data() + at);
  if (*place != '{')
    return std::nullopt;
  place = skip_spaces(place + 1);
  bool more = *place != '}';
  while (more) {
    place = read_field(place, shares, out);
    if (place == nullptr)
      return std::nullopt;
    place = skip_spaces(place);
    more = *place == ',';
    if (more)
      place = skip_spaces(place + 1);
    else if (*place != '}')
      return std::nullopt;
  }
  place = skip_spaces(place + 1);
  if (*place != '\n' || !fill_missing(out))
    return std::nullopt;
  return static_cast<std::size_t>(place - input.data());
}

/// Reads `"name": value`. @returns its end; null when it is left to the whole parser
const char* flat_json_reader::read_field(const char* at, bool shares, batch_builder& out) {
  if (*at != '"')
    return nullptr;
  const auto* name_end = end_of_string(at);
  if (name_end == nullptr)
    return nullptr;
  const auto index = fields_.find(between(at + 1, name_end));
  at = skip_spaces(name_end + 1);
  if (*at != ':')
    return nullptr;
  at = skip_spaces(at + 1);
  if (index < 0)
    return skip_value(at);
  if (!fields_.mark(static_cast<std::size_t>(index)))
    return nullptr; // named twice
  return read_value(at, static_cast<std::size_t>(index), shares, out);
}

const char* flat_json_reader::read_value(const char* at, std::size_t index, bool shares,
                                         batch_builder& out) {
  auto& value = values_[index];
  auto& column = out.column(index);
  if (*at == '"') {
    const auto* end = end_of_string(at);
    if (end == nullptr || !value.append(between(at + 1, end), shares, column))
      return nullptr;
    return end + 1;
  }
  if (starts_number(*at)) {
    const auto* end = end_of_number(at);
    return value.append(between(at, end), shares, column) ? end : nullptr;
  }
  const auto* end = end_of_literal(at);
  if (end == nullptr)
    return nullptr;
  if (*at != 'n')
    return value.append(between(at, end), shares, column) ? end : nullptr;
  if (!value.type().is_nullable())
    return nullptr;
  column.append_null();
  return end;
}

const char* flat_json_reader::skip_value(const char* at) const {
  if (*at == '"') {
    const auto* end = end_of_string(at);
    return end == nullptr ? nullptr : end + 1;
  }
  return starts_number(*at) ? end_of_number(at) : end_of_literal(at);
}

/// The closing quote of the string that opens at `at`; null when it holds an escape, a control
/// character or bad UTF-8.
const char* flat_json_reader::end_of_string(const char* at) const {
  const auto* const begin = ++at;
  bool is_ascii = true;
#if defined(__SSE2__)
  for (; end_ - at >= 16; at += 16) {
    const auto letters = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const auto special =
        _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(letters, _mm_set1_epi8('"')),
                                  _mm_cmpeq_epi8(letters, _mm_set1_epi8('\\'))),
                     _mm_cmpeq_epi8(_mm_min_epu8(letters, _mm_set1_epi8(0x1f)), letters));
    const auto specials = static_cast<unsigned>(_mm_movemask_epi8(special));
    const auto wide = static_cast<unsigned>(_mm_movemask_epi8(letters));
    if (specials == 0) {
      is_ascii &= wide == 0;
      continue;
    }
    is_ascii &= (wide & (specials ^ (specials - 1))) == 0;
    at += std::countr_zero(specials);
    break;
  }
#endif
  for (; *at != '"' && *at != '\\' && static_cast<unsigned char>(*at) >= 0x20; ++at)
    is_ascii &= static_cast<unsigned char>(*at) < 0x80;
  if (*at != '"')
    return nullptr;
  if (!is_ascii && !simdjson::validate_utf8(begin, static_cast<std::size_t>(at - begin)))
    return nullptr;
  return at;
}

bool flat_json_reader::fill_missing(batch_builder& out) {
  if (fields_.has_all())
    return true;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (fields_.has(i))
      continue;
    if (fail_on_missing_field_ || !values_[i].type().is_nullable())
      return false;
    out.column(i).append_null();
  }
  return true;
}

} // namespace headrace::task
