#include "apps/nexmark/generate_command.hpp"

#include "apps/nexmark/nexmark_script.hpp"
#include "libtask/connector/nexmark/nexmark_generator.hpp"
#include "libtask/format/csv_format.hpp"
#include "libtask/format/json_format.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace headrace::nexmark {
namespace {

constexpr std::uint64_t rows_at_once = 4096;
constexpr int side_input_rows = 10'000;

/// Rows inside of rows for JSON, their fields as columns for CSV.
graph::row_type_ptr type_of(bool is_flat) {
  using type = graph::logical_type;
  using fields = std::vector<type::field>;
  const auto number = type::bigint();
  const auto text = type::string();
  const auto time = type::timestamp(3);
  const std::vector<std::pair<std::string, fields>> groups{
      {"person",
       {{"id", number, {}},
        {"name", text, {}},
        {"emailAddress", text, {}},
        {"creditCard", text, {}},
        {"city", text, {}},
        {"state", text, {}},
        {"dateTime", time, {}},
        {"extra", text, {}}}},
      {"auction",
       {{"id", number, {}},
        {"itemName", text, {}},
        {"description", text, {}},
        {"initialBid", number, {}},
        {"reserve", number, {}},
        {"dateTime", time, {}},
        {"expires", time, {}},
        {"seller", number, {}},
        {"category", number, {}},
        {"extra", text, {}}}},
      {"bid",
       {{"auction", number, {}},
        {"bidder", number, {}},
        {"price", number, {}},
        {"channel", text, {}},
        {"url", text, {}},
        {"dateTime", time, {}},
        {"extra", text, {}}}},
  };
  fields out{{"event_type", type::integer(), {}}};
  for (const auto& [name, of] : groups) {
    if (!is_flat) {
      out.push_back({name, type::row(of), {}});
      continue;
    }
    for (const auto& each : of)
      out.push_back({name + "_" + each.name, each.type, {}});
  }
  return std::make_shared<const type>(type::row(std::move(out)).not_null());
}

status write_side_input(const std::string& path, file_system& files) {
  std::string text;
  for (int i = 0; i < side_input_rows; ++i)
    text += std::to_string(i) + "," + std::to_string(i) + "\n";
  HEADRACE_TRY(auto file, files.create(path));
  HEADRACE_CHECK(file->append(text));
  return file->close();
}

} // namespace

result<generated> generate(const generate_options& options, file_system& files) {
  HEADRACE_TRY(const auto settings, task::nexmark_settings::parse(options.settings));
  if (settings.events == 0)
    return error(errc::bad_usage, "files have an end: say --events");
  const bool is_csv = options.format == "csv";
  const auto type = type_of(is_csv);
  HEADRACE_TRY(const auto format,
               is_csv ? task::make_csv_format({{"null-literal", ""}}) : task::make_json_format({}));
  HEADRACE_TRY(const auto encoder, format->create_encoder(type));
  HEADRACE_TRY(const auto events,
               task::nexmark_generator::create(
                   std::make_shared<const task::nexmark_events>(settings), *type));

  HEADRACE_CHECK(files.create_directories(options.output));
  generated out;
  out.path = options.output + "/" + std::string(is_csv ? file_names::csv : file_names::json);
  const auto other =
      options.output + "/" + std::string(is_csv ? file_names::json : file_names::csv);
  if (files.stat(other)) // other events, perhaps
    HEADRACE_CHECK(files.remove(other));
  HEADRACE_TRY(auto file, files.create(out.path));
  graph::batch_builder rows(type);
  byte_string text;
  while (out.events < settings.events) {
    const auto count = std::min(rows_at_once, settings.events - out.events);
    HEADRACE_CHECK(events->fill(out.events, static_cast<std::size_t>(count), rows));
    text.clear();
    HEADRACE_CHECK(encoder->encode(rows.finish(), text));
    HEADRACE_CHECK(file->append(text));
    out.events += count;
    out.size_bytes += text.size();
  }
  HEADRACE_CHECK(file->close());
  HEADRACE_CHECK(
      write_side_input(options.output + "/" + std::string(file_names::side_input), files));
  return out;
}

} // namespace headrace::nexmark
