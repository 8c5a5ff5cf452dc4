#include "libgraph/expression/kernel/function_kernel.hpp"
#include "libgraph/expression/kernel/utf8.hpp"

#include <algorithm>
#include <limits>

// Parts of texts: positions count code points from 1.
namespace headrace::graph {
namespace {

using text = std::string_view;
constexpr std::int32_t to_end = std::numeric_limits<std::int32_t>::max();

/// A view that is no NULL though it is empty.
text or_empty(text part) { return part.data() == nullptr ? text("") : part; }

std::int32_t length(text from) { return static_cast<std::int32_t>(count_points(from)); }

/// A start of 0 is 1, one below counts from the end; NULL for a negative length.
text part_of(text from, std::int32_t start, std::int32_t size) {
  if (size < 0)
    return {};
  std::size_t skipped = 0;
  if (start > 0) {
    skipped = static_cast<std::size_t>(start) - 1;
  } else if (start < 0) {
    const auto points = static_cast<std::int64_t>(count_points(from));
    if (points + start < 0)
      return "";
    skipped = static_cast<std::size_t>(points + start);
  }
  const auto rest = from.substr(byte_of_point(from, skipped));
  return or_empty(rest.substr(0, byte_of_point(rest, static_cast<std::size_t>(size))));
}
text part_to_end(text from, std::int32_t start) { return part_of(from, start, to_end); }

text left(text from, std::int32_t size) {
  return size <= 0 ? text("")
                   : or_empty(from.substr(0, byte_of_point(from, static_cast<std::size_t>(size))));
}
text right(text from, std::int32_t size) {
  const auto points = static_cast<std::int64_t>(count_points(from));
  if (size <= 0)
    return "";
  return or_empty(from.substr(
      byte_of_point(from, static_cast<std::size_t>(std::max<std::int64_t>(points - size, 0)))));
}

bool has_point(text set, text point) { return set.find(point) != set.npos; }

text trim_left(text from, text set) {
  while (!from.empty() && has_point(set, front_point(from)))
    from.remove_prefix(front_point(from).size());
  return or_empty(from);
}
text trim_right(text from, text set) {
  while (!from.empty() && has_point(set, back_point(from)))
    from.remove_suffix(back_point(from).size());
  return or_empty(from);
}
text trim_left_spaces(text from) { return trim_left(from, " "); }
text trim_right_spaces(text from) { return trim_right(from, " "); }

/// TRIM(side, set, text), or TRIM(side, text). The side is a constant, looked at once a row.
text trim(text side, text set, text from) {
  if (side != "TRAILING")
    from = trim_left(from, set);
  return side == "LEADING" ? from : trim_right(from, set);
}
text trim_spaces(text side, text from) { return trim(side, " ", from); }

text trim_both(text from, text set) { return trim_right(trim_left(from, set), set); }
text trim_both_spaces(text from) { return trim_both(from, " "); }

std::uint8_t starts_with(text from, text begin) { return from.starts_with(begin) ? 1 : 0; }
std::uint8_t ends_with(text from, text end) { return from.ends_with(end) ? 1 : 0; }

/// Where `wanted` begins at the code point `from` or behind it, counted from 1; 0: nowhere.
std::int32_t position_from(text wanted, text in, std::int32_t from) {
  const auto begin = byte_of_point(in, static_cast<std::size_t>(std::max(from, 1)) - 1);
  const auto at = find_text(in, wanted, begin);
  return at == in.npos ? 0 : static_cast<std::int32_t>(count_points(in.substr(0, at))) + 1;
}
std::int32_t position(text wanted, text in) { return position_from(wanted, in, 1); }

std::int32_t in_text(text in, text wanted) { return position(wanted, in); }
/// The n-th occurrence; from a negative start, towards the text's begin.
std::int32_t in_text_nth(text in, text wanted, std::int32_t from, std::int32_t nth) {
  if (nth < 1 || from == 0)
    return 0;
  if (from > 0) {
    std::int32_t at = 0;
    for (std::int32_t i = 0; i < nth; ++i, from = at + 1)
      if (at = position_from(wanted, in, from); at == 0)
        return 0;
    return at;
  }
  const auto points = static_cast<std::int32_t>(count_points(in));
  auto last = points + from + 1;
  for (; last > 0; --last) {
    const auto begin = byte_of_point(in, static_cast<std::size_t>(last) - 1);
    if (in.substr(begin).starts_with(wanted) && --nth == 0)
      return last;
  }
  return 0;
}
std::int32_t in_text_from(text in, text wanted, std::int32_t from) {
  return in_text_nth(in, wanted, from, 1);
}

std::int32_t ascii(text from) { return from.empty() ? 0 : static_cast<signed char>(from[0]); }

/// The part at an index from 0, between separators; empty parts count. An empty separator splits at
/// white space.
text split_at(text from, text separator, std::int32_t index) {
  if (index < 0 || from.empty())
    return {};
  const auto find = [&](text in) {
    return separator.empty() ? in.find_first_of(" \t\n\r\f\v") : find_text(in, separator);
  };
  const auto step = std::max<std::size_t>(separator.size(), 1);
  for (; index > 0; --index) {
    const auto at = find(from);
    if (at == from.npos)
      return {};
    from.remove_prefix(at + step);
  }
  return or_empty(from.substr(0, find(from)));
}

/// One of the values behind the first argument, which is its number from 1; NULL where there is
/// none.
result<kernel> make_numbered(const kernel_request& request) {
  if (request.arguments.size() < 2 || request.arguments[0].physical() != physical_type::int32)
    return unfit(request);
  for (const auto& each : request.arguments.subspan(1))
    if (each.physical() != physical_type::string)
      return unfit(request);
  return kernel([](kernel_frame& frame) {
    const reader<std::int32_t> numbers(frame.arguments[0]);
    std::vector<reader<text>> values;
    for (const auto& each : frame.arguments.subspan(1))
      values.emplace_back(each);
    text_writer writer(frame);
    validity_writer validity(frame);
    for_each_row(frame.rows, [&](std::size_t row) {
      const auto number = numbers.is_null(row) ? 0 : numbers[row];
      const auto at = static_cast<std::size_t>(std::max(number, 0)) - 1;
      if (at < values.size() && !values[at].is_null(row)) {
        writer.put(row, values[at][row]);
      } else {
        writer.put_empty(row);
        validity.set_null(row);
      }
    });
    return writer.finish(frame.type, frame.rows.total, validity.finish());
  });
}

constexpr kernel_entry entries[] = {
    {"CHAR_LENGTH", "s", value_of<length>},
    {"CHARACTER_LENGTH", "s", value_of<length>},
    {"SUBSTRING", "sii", view_of<part_of, part_to_end>},
    {"SUBSTR", "sii", view_of<part_of, part_to_end>},
    {"LEFT", "si", view_of<left>},
    {"RIGHT", "si", view_of<right>},
    {"TRIM", "s", view_of<trim, trim_spaces>},
    {"BTRIM", "s", view_of<trim_both, trim_both_spaces>},
    {"STARTSWITH", ".", value_of<starts_with>},
    {"ENDSWITH", ".", value_of<ends_with>},
    {"ELT", "i.", make_numbered, false},
    {"LTRIM", "s", view_of<trim_left, trim_left_spaces>},
    {"RTRIM", "s", view_of<trim_right, trim_right_spaces>},
    {"POSITION", "ssi", value_of<position, position_from>},
    {"LOCATE", "ssi", value_of<position, position_from>},
    {"INSTR", "ssii", value_of<in_text, in_text_from, in_text_nth>},
    {"ASCII", "s", value_of<ascii>},
    {"SPLIT_INDEX", "ssi", view_of<split_at>},
};

} // namespace

std::span<const kernel_entry> text_part_kernels() { return entries; }

} // namespace headrace::graph
