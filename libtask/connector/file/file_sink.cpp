#include "libtask/connector/file/file_sink.hpp"

#include "libtask/connector/file/file_format.hpp"
#include "libtask/connector/file/file_writer.hpp"
#include "libtask/connector/file/input_files.hpp"
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
    option_declaration{"sink.rolling-policy.file-size", option_type::memory_size, "128 mb",
                       "a file that is that large is closed before the next checkpoint", 1},
};

class file_sink final : public graph::sink {
public:
  file_sink(file_output output, graph::row_type_ptr type,
            std::shared_ptr<const graph::format> format)
      : output_(std::move(output)), type_(std::move(type)), format_(std::move(format)) {}

  result<std::unique_ptr<graph::sink_writer>>
  create_writer(graph::writer_context context, std::vector<byte_string> restored) const override {
    HEADRACE_TRY(auto encoder, format_->create_encoder(type_));
    return file_writer::create(output_, std::move(encoder), std::move(context), restored);
  }
  result<std::unique_ptr<graph::committer>>
  create_committer(graph::writer_context context) const override {
    return std::unique_ptr<graph::committer>(std::make_unique<file_committer>(std::move(context)));
  }

private:
  file_output output_;
  graph::row_type_ptr type_;
  std::shared_ptr<const graph::format> format_;
};

} // namespace

result<std::unique_ptr<graph::sink>> make_file_sink(const graph::connector_registry& registry,
                                                    const graph::option_map& options,
                                                    graph::row_type_ptr type) {
  HEADRACE_TRY(auto chosen, choose_format(registry, options, *type));
  HEADRACE_TRY(const auto set, graph::option_set::parse("sink 'file'", declared, chosen.others));
  HEADRACE_CHECK(chosen.format->create_encoder(type)); // a wrong type is told when the job is made

  file_output output;
  HEADRACE_TRY(const auto path, set.need_text("path"));
  HEADRACE_TRY(output.directory, local_path(path));
  output.part_bytes_max = set.get_memory_size("sink.rolling-policy.file-size");
  return std::unique_ptr<graph::sink>(
      std::make_unique<file_sink>(std::move(output), std::move(type), std::move(chosen.format)));
}

} // namespace headrace::task
