#include "libgraph/expression/kernel/function_kernel.hpp"
#include "libgraph/expression/kernel/letter_case.hpp"
#include "libgraph/expression/kernel/utf8.hpp"
#include "libgraph/types/value_text.hpp"

#include <algorithm>

// Texts that are made of others.
namespace headrace::graph {
namespace {

using text = std::string_view;

/// What one value may grow to.
constexpr std::size_t text_bytes_max = std::size_t{64} << 20U;

bool is_too_long(text_result& out, std::size_t size) {
  if (size <= text_bytes_max)
    return false;
  out.frame.fail("text of more than 64 MiB");
  return true;
}

/// Moves a byte that is no UTF-8 as it is. @returns whether there was one at the front
bool keep_malformed(std::string& to, text& from) {
  if (valid_point_size(from) > 0)
    return false;
  to += from[0];
  from.remove_prefix(1);
  return true;
}

template <char32_t (*Change)(char32_t)>
bool change_case(text_result& out, text from) {
  const auto is_plain = [](char each) { return static_cast<unsigned char>(each) < 0x80U; };
  if (std::all_of(from.begin(), from.end(), is_plain)) {
    const char first = Change == to_capital ? 'a' : 'A';
    out.text.resize(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
      const bool is_changed = from[i] >= first && from[i] <= first + 25;
      out.text[i] = static_cast<char>(from[i] ^ (is_changed ? 0x20 : 0));
    }
    return true;
  }
  constexpr char32_t sharp_s = 0xDF; // has no capital of one letter
  while (!from.empty()) {
    if (keep_malformed(out.text, from))
      continue;
    const auto point = take_point(from);
    if (point == sharp_s && Change == to_capital)
      out.text += "SS";
    else
      append_point_utf8(Change(point), out.text);
  }
  return true;
}

/// By Unicode's blocks: signs, punctuation and symbols that are not ASCII are no letters.
bool is_letter_or_digit(char32_t point) {
  if (point < 0x80)
    return (point >= '0' && point <= '9') || (point >= 'a' && point <= 'z') ||
           (point >= 'A' && point <= 'Z');
  if (point < 0xC0)
    return point == 0xAA || point == 0xB5 || point == 0xBA;
  const auto is_in = [&](char32_t first, char32_t last) { return point >= first && point <= last; };
  return point != 0xD7 && point != 0xF7 && !is_in(0x2000, 0x2BFF) && !is_in(0x2E00, 0x303F) &&
         !is_in(0xE000, 0xF8FF) && !is_in(0xFE00, 0xFE0F) && !is_in(0x1F000, 0x1FAFF);
}

bool capitalize_words(text_result& out, text from) {
  bool is_inside = false;
  while (!from.empty()) {
    if (keep_malformed(out.text, from)) {
      is_inside = false;
      continue;
    }
    const auto point = take_point(from);
    append_point_utf8(is_inside ? to_small(point) : to_capital(point), out.text);
    is_inside = is_letter_or_digit(point);
  }
  return true;
}

bool repeat(text_result& out, text from, std::int32_t count) {
  if (count <= 0 || from.empty())
    return true;
  if (is_too_long(out, from.size() * static_cast<std::size_t>(count)))
    return false;
  for (; count > 0; --count)
    out.text += from;
  return true;
}

/// An empty text to replace stands before each code point and at the end.
bool replace(text_result& out, text from, text wanted, text by) {
  if (wanted.empty()) {
    out.text += by;
    while (!from.empty()) {
      const auto point = front_point(from);
      out.text += point;
      out.text += by;
      from.remove_prefix(point.size());
    }
    return true;
  }
  for (auto at = find_text(from, wanted); at != from.npos; at = find_text(from, wanted)) {
    out.text += from.substr(0, at);
    out.text += by;
    from.remove_prefix(at + wanted.size());
  }
  out.text += from;
  return true;
}

bool reverse(text_result& out, text from) {
  while (!from.empty()) {
    const auto point = back_point(from);
    out.text += point;
    from.remove_suffix(point.size());
  }
  return true;
}

/// Fills up to `size` code points, or cuts; NULL for a negative size or nothing to fill with.
bool pad(text_result& out, text from, std::int32_t size, text with, bool is_left) {
  if (size < 0 || with.empty())
    return false;
  const auto points = count_points(from);
  const auto wanted = static_cast<std::size_t>(size);
  if (points >= wanted) {
    out.text += from.substr(0, byte_of_point(from, wanted));
    return true;
  }
  if (is_too_long(out, wanted * with.size()))
    return false;
  if (!is_left)
    out.text += from;
  const auto step = count_points(with);
  auto missing = wanted - points;
  for (; missing >= step; missing -= step)
    out.text += with;
  out.text += with.substr(0, byte_of_point(with, missing));
  if (is_left)
    out.text += from;
  return true;
}
bool pad_left(text_result& out, text from, std::int32_t size, text with) {
  return pad(out, from, size, with, true);
}
bool pad_right(text_result& out, text from, std::int32_t size, text with) {
  return pad(out, from, size, with, false);
}

/// A start outside of the text leaves it as it is.
bool overlay(text_result& out, text from, text by, std::int32_t start, std::int32_t size) {
  const auto points = static_cast<std::int64_t>(count_points(from));
  if (start < 1 || start > points) {
    out.text += from;
    return true;
  }
  out.text += from.substr(0, byte_of_point(from, static_cast<std::size_t>(start) - 1));
  out.text += by;
  const auto end = std::int64_t{start} - 1 + std::max<std::int64_t>(size, 0);
  if (end < points)
    out.text += from.substr(byte_of_point(from, static_cast<std::size_t>(end)));
  return true;
}
bool overlay_whole(text_result& out, text from, text by, std::int32_t start) {
  return overlay(out, from, by, start, static_cast<std::int32_t>(count_points(by)));
}

/// A code of one byte.
bool letter_of(text_result& out, std::int64_t code) {
  if (code >= 0)
    append_point_utf8(static_cast<char32_t>(code & 0xFF), out.text);
  return true;
}

/// All arguments, one behind the other.
result<kernel> make_concat(const kernel_request& request) {
  for (const auto& each : request.arguments)
    if (each.physical() != physical_type::string)
      return unfit(request);
  return kernel([](kernel_frame& frame) {
    std::vector<reader<text>> from;
    from.reserve(frame.arguments.size());
    for (const auto& each : frame.arguments)
      from.emplace_back(each);
    text_writer writer(frame);
    validity_writer validity(frame, joined_validity(frame));
    std::string made;
    for_each_row(frame.rows, [&](std::size_t row) {
      if (validity.is_null(row)) {
        writer.put_empty(row);
        return;
      }
      made.clear();
      for (const auto& each : from)
        made += each[row];
      writer.put(row, made);
    });
    return writer.finish(frame.type, frame.rows.total, validity.finish());
  });
}

/// The arguments behind the first that are not NULL, with the first between them.
result<kernel> make_join(const kernel_request& request) {
  if (request.arguments.empty())
    return unfit(request);
  for (const auto& each : request.arguments)
    if (each.physical() != physical_type::string)
      return unfit(request);
  return kernel([](kernel_frame& frame) {
    std::vector<reader<text>> from;
    from.reserve(frame.arguments.size());
    for (const auto& each : frame.arguments)
      from.emplace_back(each);
    text_writer writer(frame);
    validity_writer validity(frame);
    std::string made;
    for_each_row(frame.rows, [&](std::size_t row) {
      if (from[0].is_null(row)) {
        writer.put_empty(row);
        validity.set_null(row);
        return;
      }
      made.clear();
      bool is_first = true;
      for (std::size_t i = 1; i < from.size(); ++i) {
        if (from[i].is_null(row))
          continue;
        if (!is_first)
          made += from[0][row];
        made += from[i][row];
        is_first = false;
      }
      writer.put(row, made);
    });
    return writer.finish(frame.type, frame.rows.total, validity.finish());
  });
}

/// Each code point of the second text becomes that at its place in the third, or goes; NULLs there
/// are empty texts.
result<kernel> make_translate(const kernel_request& request) {
  if (request.arguments.size() != 3)
    return unfit(request);
  for (const auto& each : request.arguments)
    if (each.physical() != physical_type::string)
      return unfit(request);
  return kernel([](kernel_frame& frame) {
    const reader<text> from(frame.arguments[0]);
    const reader<text> wanted(frame.arguments[1]);
    const reader<text> by(frame.arguments[2]);
    text_writer writer(frame);
    validity_writer validity(frame);
    std::string made;
    for_each_row(frame.rows, [&](std::size_t row) {
      if (from.is_null(row)) {
        writer.put_empty(row);
        validity.set_null(row);
        return;
      }
      const auto old = wanted.is_null(row) ? text() : wanted[row];
      const auto fresh = by.is_null(row) ? text() : by[row];
      made.clear();
      for (auto rest = from[row]; !rest.empty();) {
        const auto point = front_point(rest);
        rest.remove_prefix(point.size());
        const auto at = old.find(point);
        if (at == text::npos) {
          made += point;
          continue;
        }
        const auto begin = byte_of_point(fresh, count_points(old.substr(0, at)));
        if (begin < fresh.size())
          made += front_point(fresh.substr(begin));
      }
      writer.put(row, made);
    });
    return writer.finish(frame.type, frame.rows.total, validity.finish());
  });
}

template <bool (*Holds)(text)>
result<kernel> make_check(const kernel_request& request) {
  if (request.arguments.size() != 1 || request.arguments[0].physical() != physical_type::string)
    return unfit(request);
  return kernel([](kernel_frame& frame) {
    auto out = frame.buffers.allocate(frame.rows.total);
    auto* to = out->mutable_as<std::uint8_t>();
    const reader<text> from(frame.arguments[0]);
    for_each_row(frame.rows, [&](std::size_t row) {
      to[row] = static_cast<std::uint8_t>(!from.is_null(row) && Holds(from[row]));
    });
    return make_fixed(frame.type, frame.rows.total, std::move(out), nullptr);
  });
}

bool is_alpha(text from) {
  bool out = !from.empty();
  while (out && !from.empty()) {
    const auto point = take_point(from);
    out = is_letter_or_digit(point) && !(point >= '0' && point <= '9');
  }
  return out;
}
bool is_digit(text from) {
  return !from.empty() &&
         std::all_of(from.begin(), from.end(), [](char c) { return c >= '0' && c <= '9'; });
}
bool is_decimal(text from) { return parse_double(from).has_value(); }

constexpr kernel_entry entries[] = {
    {"UPPER", "s", text_of<change_case<to_capital>>},
    {"LOWER", "s", text_of<change_case<to_small>>},
    {"INITCAP", "s", text_of<capitalize_words>},
    {"REPEAT", "si", text_of<repeat>, true, true},
    {"REPLACE", "s", text_of<replace>},
    {"REVERSE", "s", text_of<reverse>},
    {"LPAD", "sis", text_of<pad_left>, true, true},
    {"RPAD", "sis", text_of<pad_right>, true, true},
    {"OVERLAY", "ssii", text_of<overlay, overlay_whole>},
    {"||", "s", make_concat},
    {"CONCAT", "s", make_concat},
    {"CONCAT_WS", "s", make_join, false},
    {"TRANSLATE", "s", make_translate, false},
    {"CHR", "l", text_of<letter_of>},
    {"IS_ALPHA", "s", make_check<is_alpha>, false},
    {"IS_DIGIT", "s", make_check<is_digit>, false},
    {"IS_DECIMAL", "s", make_check<is_decimal>, false},
};

} // namespace

std::span<const kernel_entry> text_made_kernels() { return entries; }

} // namespace headrace::graph
