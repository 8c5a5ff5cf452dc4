#include "libtask/connector/file/file_source.hpp"

#include "libtask/connector/file/file_enumerator.hpp"
#include "libtask/connector/file/file_format.hpp"
#include "libtask/connector/file/file_reader.hpp"
#include "libtask/connector/file/input_files.hpp"
#include "libgraph/connector/option_set.hpp"
#include "libactors/base/path.hpp"

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
};

class file_source final : public graph::source {
public:
  file_source(file_input input, file_reading reading, std::shared_ptr<const graph::format> format)
      : input_(std::move(input)), reading_(std::move(reading)), format_(std::move(format)) {}

  graph::boundedness bounds() const override {
    return input_.monitor_interval.count() == 0 ? graph::boundedness::bounded
                                                : graph::boundedness::unbounded;
  }
  graph::row_type_ptr row_type() const override { return reading_.type; }

  result<std::unique_ptr<graph::split_enumerator>>
  create_enumerator(graph::enumerator_context& context,
                    std::optional<byte_string> restored) const override {
    return file_enumerator::create(input_, context, restored);
  }
  result<std::unique_ptr<graph::split_reader>>
  create_reader(graph::reader_context context) const override {
    HEADRACE_TRY(auto decoder, format_->create_decoder(reading_.type));
    return std::unique_ptr<graph::split_reader>(
        std::make_unique<file_reader>(reading_, std::move(decoder), std::move(context)));
  }

private:
  file_input input_;
  file_reading reading_;
  std::shared_ptr<const graph::format> format_;
};

} // namespace

result<std::unique_ptr<graph::source>> make_file_source(const graph::connector_registry& registry,
                                                        const graph::option_map& options,
                                                        graph::row_type_ptr type) {
  HEADRACE_TRY(auto chosen, choose_format(registry, options, *type));
  HEADRACE_TRY(const auto set, graph::option_set::parse("source 'file'", declared, chosen.others));
  HEADRACE_CHECK(chosen.format->create_decoder(type)); // a wrong type is told when the job is made

  file_input input;
  HEADRACE_TRY(const auto path, set.need_text("path"));
  HEADRACE_TRY(input.path, local_path(path));
  input.recursive = set.get_bool("source.recursive");
  if (set.has("source.split-size"))
    input.split_bytes = set.get_memory_size("source.split-size");
  input.splittable = chosen.format->is_splittable();
  input.assignment = set.get_text("source.split-assignment") == "static"
                         ? split_assignment::fixed
                         : split_assignment::on_request;
  input.monitor_interval = set.get_duration("source.monitor-interval");

  file_reading reading;
  reading.type = std::move(type);
  reading.splittable = input.splittable;
  reading.rows_per_second = set.get_real("rows-per-second");
  if (reading.rows_per_second > 0)
    input.splits_at_once_max = 1; // each takes its time, and work is to be shared
  return std::unique_ptr<graph::source>(std::make_unique<file_source>(
      std::move(input), std::move(reading), std::move(chosen.format)));
}

} // namespace headrace::task
