#include "libtask/connector/file/partition_path.hpp"

#include "libactors/base/text.hpp"

#include <algorithm>
#include <charconv>

namespace headrace::task {
namespace {

bool is_escaped(char letter) {
  constexpr std::string_view special = "\"#%'*/:=?\\{[]^\x7f";
  return static_cast<unsigned char>(letter) < 0x20U || special.find(letter) != special.npos;
}

void append_escaped(std::string_view text, std::string& out) {
  static constexpr char digits[] = "0123456789ABCDEF";
  for (const char letter : text) {
    if (!is_escaped(letter)) {
      out += letter;
      continue;
    }
    const auto code = static_cast<unsigned char>(letter);
    out += '%';
    out += digits[code >> 4U];
    out += digits[code & 15U];
  }
}

std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned code = 0;
    if (text[i] == '%' && i + 2 < text.size()) {
      const auto* begin = text.data() + i + 1;
      const auto [end, failed] = std::from_chars(begin, begin + 2, code, 16);
      if (failed == std::errc{} && end == begin + 2) {
        out += static_cast<char>(code);
        i += 2;
        continue;
      }
    }
    out += text[i];
  }
  return out;
}

} // namespace

std::string partition_path(std::span<const std::string> keys, const partition_values& values,
                           std::string_view missing) {
  std::string out;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i > 0)
      out += '/';
    append_escaped(keys[i], out);
    out += '=';
    const bool is_missing = !values[i] || values[i]->empty();
    append_escaped(is_missing ? missing : std::string_view(*values[i]), out);
  }
  return out;
}

std::optional<partition_values> parse_partition(std::span<const std::string> keys,
                                                std::string_view directory,
                                                std::string_view missing) {
  const auto names = split_text(directory, '/');
  if (names.size() < keys.size())
    return std::nullopt;
  partition_values out;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::string_view name = names[names.size() - keys.size() + i];
    const auto equals = name.find('=');
    if (equals == name.npos || unescaped(name.substr(0, equals)) != keys[i])
      return std::nullopt;
    auto value = unescaped(name.substr(equals + 1));
    out.push_back(value == missing ? std::nullopt : std::optional(std::move(value)));
  }
  return out;
}

std::vector<std::string> split_partition_keys(std::string_view text) {
  std::vector<std::string> out;
  for (const auto each : split_text(text, ','))
    out.emplace_back(trim_text(each));
  return out;
}

graph::row_type_ptr without_columns(const graph::logical_type& type,
                                    std::span<const std::string> names) {
  std::vector<graph::logical_type::field> out;
  for (const auto& field : type.fields())
    if (std::find(names.begin(), names.end(), field.name) == names.end())
      out.push_back(field);
  auto made = graph::logical_type::row(std::move(out));
  return std::make_shared<const graph::logical_type>(type.is_nullable() ? made : made.not_null());
}

} // namespace headrace::task
