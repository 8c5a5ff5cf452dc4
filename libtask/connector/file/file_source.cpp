#include "libtask/connector/file/file_source.hpp"

#include "libtask/connector/file/file_enumerator.hpp"
#include "libtask/connector/file/file_format.hpp"
#include "libtask/connector/file/file_reader.hpp"
#include "libtask/connector/file/file_sink.hpp"
#include "libtask/connector/file/input_files.hpp"
#include "libtask/connector/file/partition_path.hpp"
#include "libtask/format/scalar_text.hpp"
#include "libgraph/connector/abilities.hpp"
#include "libgraph/connector/file_metadata.hpp"
#include "libgraph/connector/option_set.hpp"
#include "libactors/base/path.hpp"

#include <algorithm>
#include <array>

namespace headrace::task {
namespace {

constexpr std::array declared{
    option_declaration{"path", option_type::path, "",
                       "a file, a directory, or a glob; hidden files of directories are left out"},
    option_declaration{"format", option_type::text, "",
                       "how bytes become rows; by default lines for a single STRING column, else "
                       "csv"},
    option_declaration{"source.recursive", option_type::boolean, "true",
                       "whether directories inside the directory are read too"},
    option_declaration{"source.split-size", option_type::memory_size, "",
                       "bytes of a file that one reader takes at once; by default derived from the "
                       "files' sizes and the number of readers, 4 mb to 64 mb",
                       1},
    option_declaration{"source.split-assignment", option_type::text, "on-request",
                       "on-request: the next split to whoever asks; static: split i to reader i "
                       "modulo their number",
                       std::nullopt, std::nullopt, "on-request|static"},
    option_declaration{"source.monitor-interval", option_type::duration, "0",
                       "how often to look for new files, without end; 0: not at all", 0},
    option_declaration{"rows-per-second", option_type::real, "0",
                       "rows that each reader gives at most; 0: no limit", 0},
    option_declaration{"errors", option_type::text, "fail",
                       "what becomes of a malformed record: fail: the job fails with its place; "
                       "skip: it is left out and counted; table: it becomes a row of TABLE$errors",
                       std::nullopt, std::nullopt, "fail|skip|table"},
    option_declaration{"partition.keys", option_type::text, "",
                       "columns whose values name directories, with commas between; PARTITIONED BY "
                       "sets it"},
    option_declaration{"metadata.keys", option_type::text, "",
                       "what is told of the file of each row, with commas between; METADATA "
                       "columns set it"},
    option_declaration{"partition.default-name", option_type::text, "__DEFAULT_PARTITION__",
                       "the directory's value for NULL and for an empty text"},
};

class file_source final : public graph::source, public graph::projectable_source {
public:
  file_source(file_input input, file_reading reading, std::shared_ptr<const graph::format> format)
      : input_(std::move(input)), reading_(std::move(reading)),
        record_(without_columns(*reading_.type, reading_.constants())), format_(std::move(format)) {
    reading_.decoded = record_;
  }

  graph::boundedness bounds() const override {
    return input_.monitor_interval.count() == 0 ? graph::boundedness::bounded
                                                : graph::boundedness::unbounded;
  }
  graph::row_type_ptr row_type() const override { return reading_.type; }
  bool project(graph::row_type_ptr produced) override {
    auto decoded = decoded_of(*produced);
    if (!format_->create_decoder(record_, decoded))
      return false;
    reading_.type = std::move(produced);
    reading_.decoded = std::move(decoded);
    return true;
  }

  result<std::unique_ptr<graph::split_enumerator>>
  create_enumerator(graph::enumerator_context& context,
                    std::optional<byte_string> restored) const override {
    return file_enumerator::create(input_, context, restored);
  }
  result<std::unique_ptr<graph::split_reader>>
  create_reader(graph::reader_context context) const override {
    HEADRACE_TRY(auto decoder, format_->create_decoder(record_, reading_.decoded));
    return std::unique_ptr<graph::split_reader>(
        std::make_unique<file_reader>(reading_, std::move(decoder), std::move(context)));
  }

private:
  /// What of it stands in the files: one column at least, so that rows can be counted.
  graph::row_type_ptr decoded_of(const graph::logical_type& produced) const {
    auto out = without_columns(produced, reading_.constants());
    if (out->child_count() > 0)
      return out;
    return std::make_shared<const graph::logical_type>(
        graph::logical_type::row({record_->fields().front()}).not_null());
  }

  file_input input_;
  file_reading reading_;
  graph::row_type_ptr record_; ///< what a record of the files has
  std::shared_ptr<const graph::format> format_;
};

/// `errors` = `skip` is an option of the format, and what `table` needs of it.
graph::option_map with_errors(const graph::option_map& options, const graph::logical_type& type) {
  auto out = options;
  const auto name = format_name(options, type);
  const bool has_malformed = name != "lines" && name != "raw"; // any line is one
  if (const auto found = options.find("errors");
      found != options.end() && found->second != "fail" && has_malformed)
    out.insert_or_assign(name + ".ignore-malformed-records", "true");
  return out;
}

/// The fields that are told of files, by the option.
result<std::vector<std::string>> metadata_fields_of(const graph::option_map& options,
                                                    const graph::logical_type& type) {
  std::vector<std::string> out;
  const auto given = options.find(std::string(graph::metadata_option));
  if (given == options.end())
    return out;
  for (const auto& key : split_partition_keys(given->second)) {
    const auto field = graph::metadata_field(key);
    const auto wanted = graph::file_metadata_type(key);
    const auto found = type.field_index(field);
    if (!wanted || found < 0 || !(type.child(static_cast<std::size_t>(found)) == *wanted))
      return error(errc::bad_option_value,
                   "bad value of option 'metadata.keys' of source 'file': there is no column of " +
                       key);
    out.push_back(field);
  }
  return out;
}

} // namespace

std::vector<option_declaration> file_source_options() { return {declared.begin(), declared.end()}; }

std::span<const option_declaration> file_table_options() {
  static const auto all = [] {
    auto out = file_source_options();
    for (const auto& each : file_sink_options())
      if (std::none_of(out.begin(), out.end(),
                       [&](const auto& known) { return known.key == each.key; }))
        out.push_back(each);
    return out;
  }();
  return all;
}

result<std::unique_ptr<graph::source>> make_file_source(const graph::connector_registry& registry,
                                                        const graph::option_map& options,
                                                        graph::row_type_ptr type) {
  file_reading reading;
  HEADRACE_TRY(reading.metadata_fields, metadata_fields_of(options, *type));
  const auto in_files = without_columns(*type, reading.metadata_fields);
  HEADRACE_TRY(auto chosen, choose_format(registry, with_errors(options, *in_files), *in_files));
  HEADRACE_TRY(const auto set,
               graph::option_set::parse("source 'file'", file_table_options(), chosen.others));
  reading.missing_partition = set.get_text("partition.default-name");
  if (set.has("partition.keys"))
    reading.partition_keys = split_partition_keys(set.get_text("partition.keys"));
  for (const auto& key : reading.partition_keys)
    if (const auto index = type->field_index(key);
        index < 0 || !is_scalar(type->child(static_cast<std::size_t>(index))))
      return error(errc::bad_option_value, "bad value of option 'partition.keys' of source 'file': "
                                           "there is no column of scalars " +
                                               key);
  const auto record = without_columns(*type, reading.constants());
  if (record->child_count() == 0)
    return error(errc::bad_option_value,
                 reading.partition_keys.empty()
                     ? "no column is left for the files: a table has one at least that is no "
                       "metadata"
                     : "bad value of option 'partition.keys' of source 'file': no column is left "
                       "for the files");
  // A wrong type is told when the job is made.
  HEADRACE_CHECK(chosen.format->create_decoder(record));

  file_input input;
  HEADRACE_TRY(const auto path, set.need_text("path"));
  HEADRACE_TRY(input.path, local_path(path));
  input.recursive = set.get_bool("source.recursive");
  if (set.has("source.split-size"))
    input.split_bytes = set.get_memory_size("source.split-size");
  // Changes are read as they were made.
  input.splittable = chosen.format->is_splittable() && !chosen.has_changes;
  input.assignment = chosen.has_changes ? split_assignment::in_order
                     : set.get_text("source.split-assignment") == "static"
                         ? split_assignment::fixed
                         : split_assignment::on_request;
  input.monitor_interval = set.get_duration("source.monitor-interval");

  reading.type = std::move(type);
  reading.splittable = input.splittable;
  reading.keeps_malformed = set.get_text("errors") == "table";
  reading.rows_per_second = set.get_real("rows-per-second");
  if (reading.rows_per_second > 0)
    input.splits_at_once_max = 1; // each takes its time, and work is to be shared
  return std::unique_ptr<graph::source>(std::make_unique<file_source>(
      std::move(input), std::move(reading), std::move(chosen.format)));
}

} // namespace headrace::task
