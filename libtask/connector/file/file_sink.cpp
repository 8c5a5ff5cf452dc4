#include "libtask/connector/file/file_sink.hpp"

#include "libtask/connector/file/file_format.hpp"
#include "libtask/connector/file/file_source.hpp"
#include "libtask/connector/file/file_writer.hpp"
#include "libtask/connector/file/input_files.hpp"
#include "libtask/format/scalar_text.hpp"
#include "libgraph/connector/abilities.hpp"
#include "libgraph/connector/option_set.hpp"
#include "libactors/base/path.hpp"

#include <array>

namespace headrace::task {
namespace {

constexpr std::array declared{
    option_declaration{"path", option_type::path, "", "the directory that gets the files"},
    option_declaration{"format", option_type::text, "",
                       "how rows become bytes; by default lines for a single STRING column, else "
                       "csv"},
    option_declaration{"sink.parallelism", option_type::integer, "",
                       "how many subtasks write, of tables of SQL; unset: as many as give the rows",
                       1, 32'768},
    option_declaration{"sink.rolling-policy.file-size", option_type::memory_size, "128 mb",
                       "a file that is that large is closed before the next checkpoint", 1},
    option_declaration{"sink.rolling-policy.rollover-interval", option_type::duration, "30 min",
                       "taken so that scripts of others run: each checkpoint closes the files"},
    option_declaration{"sink.rolling-policy.check-interval", option_type::duration, "1 min",
                       "taken so that scripts of others run"},
    option_declaration{
        "sink.overwrite", option_type::boolean, "false",
        "whether files of others go where this job writes; INSERT OVERWRITE sets it"},
    option_declaration{"sink.overwrite.partition", option_type::text, "",
                       "the directory KEY=VALUE/… of the one partition that is overwritten, though "
                       "no row comes; INSERT OVERWRITE … PARTITION sets it"},
    option_declaration{"partition.keys", option_type::text, "",
                       "columns whose values name directories, with commas between; PARTITIONED BY "
                       "sets it"},
    option_declaration{"partition.default-name", option_type::text, "__DEFAULT_PARTITION__",
                       "the directory's value for NULL and for an empty text"},
    option_declaration{"partition.time-extractor.timestamp-pattern", option_type::text, "",
                       "the time of a partition, with $COLUMN for values: '$dt $hour:00:00'; by "
                       "default the first column's value"},
    option_declaration{"sink.partition-commit.policy.kind", option_type::text, "",
                       "success-file: a partition that is complete gets a file that says so",
                       std::nullopt, std::nullopt, "success-file"},
    option_declaration{"sink.partition-commit.trigger", option_type::text, "process-time",
                       "when a partition is complete: process-time: as soon as its rows are "
                       "visible; partition-time: when the watermark has passed its time and the "
                       "delay",
                       std::nullopt, std::nullopt, "process-time|partition-time"},
    option_declaration{"sink.partition-commit.delay", option_type::duration, "0",
                       "how long after its time a partition is complete, by event time", 0},
    option_declaration{"sink.partition-commit.watermark-time-zone", option_type::text, "UTC",
                       "the zone of the partitions' times", std::nullopt, std::nullopt, "UTC"},
    option_declaration{"sink.partition-commit.success-file.name", option_type::text, "_SUCCESS",
                       "the name of the file that says so"},
};

error bad_keys(const std::string& what) {
  return {errc::bad_option_value, "bad value of option 'partition.keys' of sink 'file': " + what};
}

/// Divides the rows into what names directories and what stands in files.
status take_partitions(const graph::option_set& set, const graph::logical_type& type,
                       file_output& into) {
  into.missing_partition = set.get_text("partition.default-name");
  if (set.has("partition.keys"))
    into.partition_keys = split_partition_keys(set.get_text("partition.keys"));
  for (const auto& key : into.partition_keys) {
    const auto index = type.field_index(key);
    if (index < 0)
      return bad_keys("there is no column " + key);
    if (!is_scalar(type.child(static_cast<std::size_t>(index))))
      return bad_keys("column " + key + " is no scalar");
    into.partition_columns.push_back(static_cast<std::size_t>(index));
  }
  into.file_type = without_columns(type, into.partition_keys);
  if (into.file_type->child_count() == 0)
    return bad_keys("no column is left for the files");
  const bool by_time = set.get_text("sink.partition-commit.trigger") == "partition-time";
  if (!set.has("sink.partition-commit.policy.kind")) {
    if (by_time)
      return error(errc::bad_option_value, "sink 'file' marks partitions with a file: say "
                                           "'sink.partition-commit.policy.kind' = 'success-file'");
    return {};
  }
  if (into.partition_keys.empty())
    return bad_keys("a table without partitions has none to commit");
  into.marking = partition_marking{into.partition_keys,
                                   into.missing_partition,
                                   by_time,
                                   set.get_text("partition.time-extractor.timestamp-pattern"),
                                   set.get_duration("sink.partition-commit.delay").count(),
                                   set.get_text("sink.partition-commit.success-file.name")};
  if (!by_time && into.marking->delay_ms > 0)
    return error(errc::bad_option_value,
                 "bad value of option 'sink.partition-commit.delay' of sink 'file': it goes with "
                 "'sink.partition-commit.trigger' = 'partition-time'");
  return {};
}

/// The directory in the spelling of those that rows make.
result<std::string> spelled_partition(const file_output& output, const graph::logical_type& type,
                                      const std::string& given) {
  const auto bad = [&](const std::string& what) {
    return error(errc::bad_option_value,
                 "bad value of option 'sink.overwrite.partition' of sink 'file': " + what + ": '" +
                     given + "'");
  };
  auto values = parse_partition(output.partition_keys, given, output.missing_partition);
  if (!values)
    return bad("it is to name each of the partition's columns");
  for (std::size_t i = 0; i < values->size(); ++i) {
    auto& value = (*values)[i];
    if (!value)
      continue;
    const auto& its = type.child(output.partition_columns[i]);
    graph::column_builder read(its);
    if (!scalar_reader(its).append(*value, false, read))
      return bad("a value is no " + its.to_sql());
    value->clear();
    write_scalar(*read.finish(), 0, timestamp_style::sql, *value);
  }
  return partition_path(output.partition_keys, *values, output.missing_partition) + "/";
}

class file_sink final : public graph::sink, public graph::changelog_sink {
public:
  file_sink(file_output output, std::shared_ptr<const graph::format> format)
      : output_(std::move(output)), format_(std::move(format)) {}

  bool takes_changes() const override { return output_.has_changes; }
  result<std::unique_ptr<graph::sink_writer>>
  create_writer(graph::writer_context context, std::vector<byte_string> restored) const override {
    HEADRACE_TRY(auto encoder, format_->create_encoder(output_.file_type));
    return file_writer::create(output_, std::move(encoder), std::move(context), restored);
  }
  result<std::unique_ptr<graph::committer>>
  create_committer(graph::writer_context context) const override {
    return std::unique_ptr<graph::committer>(
        std::make_unique<file_committer>(output_, std::move(context)));
  }

private:
  file_output output_;
  std::shared_ptr<const graph::format> format_;
};

} // namespace

std::vector<option_declaration> file_sink_options() { return {declared.begin(), declared.end()}; }

result<std::unique_ptr<graph::sink>> make_file_sink(const graph::connector_registry& registry,
                                                    const graph::option_map& options,
                                                    graph::row_type_ptr type) {
  HEADRACE_TRY(auto chosen, choose_format(registry, options, *type));
  HEADRACE_TRY(const auto set,
               graph::option_set::parse("sink 'file'", file_table_options(), chosen.others));
  file_output output;
  HEADRACE_CHECK(take_partitions(set, *type, output));
  // A wrong type is told when the job is made.
  HEADRACE_CHECK(chosen.format->create_encoder(output.file_type));
  HEADRACE_TRY(const auto path, set.need_text("path"));
  HEADRACE_TRY(output.directory, local_path(path));
  output.overwrites = set.get_bool("sink.overwrite");
  if (set.has("sink.overwrite.partition")) {
    HEADRACE_TRY(output.overwritten,
                 spelled_partition(output, *type, set.get_text("sink.overwrite.partition")));
  } else if (output.overwrites && output.partition_keys.empty()) {
    output.overwritten = "";
  }
  output.has_changes = chosen.has_changes;
  output.part_bytes_max = set.get_memory_size("sink.rolling-policy.file-size");
  return std::unique_ptr<graph::sink>(
      std::make_unique<file_sink>(std::move(output), std::move(chosen.format)));
}

} // namespace headrace::task
