#include "libgraph/expression/kernel/json_path.hpp"

#include <algorithm>
#include <charconv>

namespace headrace::graph {
namespace {

void skip_spaces(std::string_view& rest) {
  while (rest.starts_with(' '))
    rest.remove_prefix(1);
}

bool take(std::string_view& rest, std::string_view sign) {
  if (!rest.starts_with(sign))
    return false;
  rest.remove_prefix(sign.size());
  return true;
}

std::optional<std::int64_t> take_number(std::string_view& rest) {
  skip_spaces(rest);
  std::int64_t out = 0;
  const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), out);
  if (read.ec != std::errc())
    return std::nullopt;
  rest.remove_prefix(static_cast<std::size_t>(read.ptr - rest.data()));
  skip_spaces(rest);
  return out;
}

} // namespace

result<json_path> json_path::compile(std::string_view path) {
  const auto refused = [&](std::string_view what) {
    return error(errc::type_mismatch, "JSON path " + std::string(what) + ": '" + std::string(path) +
                                          "', expected one such as '$.name' or 'lax $.list[0]'");
  };
  json_path out;
  auto rest = path;
  skip_spaces(rest);
  out.is_lax_ = take(rest, "lax ");
  if (!out.is_lax_)
    take(rest, "strict ");
  skip_spaces(rest);
  if (!take(rest, "$"))
    return refused("does not begin with $");
  while (!rest.empty()) {
    step next;
    if (!take_step(rest, next))
      return refused("is malformed or has what is not supported");
    out.steps_.push_back(std::move(next));
    if (rest.find_first_not_of(' ') == rest.npos)
      break;
  }
  return out;
}

bool json_path::take_step(std::string_view& rest, step& out) {
  out.is_deep = take(rest, "..");
  if (!out.is_deep && rest.starts_with('['))
    return take_bracket(rest, out);
  if (!out.is_deep && !take(rest, "."))
    return false;
  if (rest.starts_with('['))
    return take_bracket(rest, out);
  if (take(rest, "*")) {
    out.kind = step_kind::all;
    return true;
  }
  const auto end = std::min(rest.find_first_of(".[ ()"), rest.size());
  out.name = rest.substr(0, end);
  rest.remove_prefix(end);
  return end > 0 && !rest.starts_with('(');
}

bool json_path::take_bracket(std::string_view& rest, step& out) {
  take(rest, "[");
  skip_spaces(rest);
  if (rest.starts_with('\'') || rest.starts_with('"')) {
    const char quote = rest[0];
    rest.remove_prefix(1);
    while (!rest.empty() && rest[0] != quote) {
      if (rest[0] == '\\' && rest.size() > 1)
        rest.remove_prefix(1);
      out.name += rest[0];
      rest.remove_prefix(1);
    }
    if (rest.empty())
      return false;
    rest.remove_prefix(1);
  } else if (take(rest, "*")) {
    out.kind = step_kind::all;
  } else {
    const auto begin = take_number(rest);
    out.kind = step_kind::index;
    out.index = begin.value_or(0);
    if (take(rest, ":")) {
      out.kind = step_kind::slice;
      out.end = take_number(rest);
    } else if (!begin) {
      return false;
    }
  }
  skip_spaces(rest);
  return take(rest, "]");
}

/// Whether a step leads from a value to one of its children, which is at `place` of `size`.
bool json_path::matches(const json_document& in, std::size_t parent, std::size_t child,
                        std::int64_t place, std::int64_t size, const step& by) {
  const bool is_object = in.at(parent).kind == json_kind::object;
  switch (by.kind) {
  case step_kind::all:
    return true;
  case step_kind::name:
    return is_object && in.at(child).key == by.name;
  case step_kind::index:
    return !is_object && place == (by.index < 0 ? size + by.index : by.index);
  case step_kind::slice: {
    const auto bound = [&](std::int64_t given) { return given < 0 ? size + given : given; };
    return !is_object && place >= bound(by.index) && place < bound(by.end.value_or(size));
  }
  }
  return false;
}

json_path::found json_path::find(const json_document& in) const {
  found out;
  out.nodes.push_back(0);
  std::vector<std::size_t> next;
  for (const auto& by : steps_) {
    next.clear();
    for (const auto from : out.nodes) {
      const auto last = by.is_deep ? in.at(from).end : from + 1;
      for (auto parent = from; parent < last; ++parent) {
        std::int64_t size = 0;
        for (auto child = parent + 1; child < in.at(parent).end; child = in.at(child).end)
          ++size;
        std::int64_t place = 0;
        for (auto child = parent + 1; child < in.at(parent).end; child = in.at(child).end, ++place)
          if (matches(in, parent, child, place, size, by))
            next.push_back(child);
      }
    }
    out.nodes.swap(next);
    out.is_list |= by.is_list();
    // What is not there before a list is not an empty one.
    if (out.nodes.empty() && !out.is_list) {
      out.is_error = !is_lax_;
      return out;
    }
  }
  return out;
}

} // namespace headrace::graph
