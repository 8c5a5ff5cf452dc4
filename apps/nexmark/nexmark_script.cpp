#include "apps/nexmark/nexmark_script.hpp"

#include "apps/nexmark/embedded_sql.hpp"
#include "libactors/base/path.hpp"
#include "libactors/base/text.hpp"

#include <algorithm>
#include <utility>

namespace headrace::nexmark {
namespace {

constexpr std::string_view flat_tables = "events_flat";
constexpr std::string_view nested_tables = "events";

std::string_view text_of(std::string_view name) {
  for (const auto& each : nexmark_sql())
    if (each.name == name)
      return each.text;
  return {};
}

/// 'text', for SQL.
std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char letter : text) {
    out += letter;
    if (letter == '\'')
      out += letter;
  }
  return out + "'";
}

std::string options_text(const graph::option_map& options) {
  std::string out;
  for (const auto& [key, value] : options)
    out += (out.empty() ? "  " : ",\n  ") + quoted(key) + " = " + quoted(value);
  return out;
}

void replace_all(std::string& in, std::string_view from, std::string_view to) {
  for (auto at = in.find(from); at != std::string::npos; at = in.find(from, at + to.size()))
    in.replace(at, from.size(), to);
}

bool is_there(file_system& files, const std::string& path) { return files.stat(path).has_value(); }

/// The tables over the files of a directory.
result<std::string> tables_of_files(const std::string& directory, const graph::option_map& settings,
                                    file_system& files) {
  const auto json = directory + "/" + std::string(file_names::json);
  const auto csv = directory + "/" + std::string(file_names::csv);
  const bool is_json = is_there(files, json);
  if (!is_json && !is_there(files, csv))
    return error(errc::bad_usage,
                 "no events in " + directory + ": neither " + std::string(file_names::json) +
                     " nor " + std::string(file_names::csv) +
                     "; headrace nexmark generate --output " + directory + " makes them");
  graph::option_map source{{"connector", "filesystem"},
                           {"path", is_json ? json : csv},
                           {"format", is_json ? "json" : "csv"}};
  if (!is_json)
    source.emplace("csv.null-literal", "");
  for (const auto& [key, value] : settings)
    source.insert_or_assign(key, value);
  std::string out(text_of(is_json ? nested_tables : flat_tables));
  replace_all(out, "${SOURCE}", options_text(source));
  return out;
}

std::string tables_of_generator(const graph::option_map& settings) {
  auto source = settings;
  source.insert_or_assign("connector", "nexmark");
  std::string out(text_of(nested_tables));
  replace_all(out, "${SOURCE}", options_text(source));
  return out;
}

/// "q2" before "q10".
std::pair<std::size_t, std::string_view> order_of(std::string_view name) {
  return {name[0] == 'q' ? name.size() : name.size() + 2, name};
}

} // namespace

std::vector<std::string> query_names() {
  std::vector<std::string> out;
  for (const auto& each : nexmark_sql())
    if (each.name != flat_tables && each.name != nested_tables)
      out.emplace_back(each.name);
  std::sort(out.begin(), out.end(),
            [](const auto& left, const auto& right) { return order_of(left) < order_of(right); });
  return out;
}

result<std::string> make_script(const script_options& options, file_system& files) {
  const auto known = query_names();
  if (std::find(known.begin(), known.end(), options.query) == known.end())
    return error(errc::bad_usage,
                 "no query " + options.query + ", there are " + join_text(known, ", "));
  auto directory = options.input;
  std::string out;
  if (directory.empty()) {
    out = tables_of_generator(options.settings);
  } else {
    HEADRACE_TRY(directory, absolute_path(directory));
    HEADRACE_TRY(out, tables_of_files(directory, options.settings, files));
  }
  std::string query(text_of(options.query));
  const auto wants = [&](std::string_view variable) {
    return query.find(variable) != std::string::npos;
  };
  if (wants("${SIDE_INPUT}") && directory.empty())
    return error(errc::bad_usage, options.query + " reads a file beside the events: give it a "
                                                  "directory with --input");
  if (wants("${OUTPUT}") && options.output.empty())
    return error(errc::bad_usage,
                 options.query + " writes files: give it a directory with --output");
  graph::option_map sink{{"connector", "blackhole"}};
  std::string output;
  if (!options.output.empty()) {
    HEADRACE_TRY(output, absolute_path(options.output));
    sink = {{"connector", "filesystem"}, {"path", output}, {"format", "changelog-json"}};
  }
  // The place of the first one is indented already.
  replace_all(query, "  ${SINK}", options_text(sink));
  replace_all(query, "'${SIDE_INPUT}'",
              quoted(directory + "/" + std::string(file_names::side_input)));
  replace_all(query, "'${OUTPUT}'", quoted(output));
  return out + "\n" + query;
}

} // namespace headrace::nexmark
