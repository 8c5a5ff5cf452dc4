#include "libstate/heap/canonical_form.hpp"

#include "libstate/heap/heap_backend.hpp"
#include "libstate/heap/heap_native_format.hpp"
#include "libstate/storage/state_stream.hpp"
#include "libactors/base/assert.hpp"

#include <algorithm>
#include <utility>

namespace headrace::state {

namespace {

/// A snapshot in memory: first written, then read.
class memory_target final : public snapshot_target {
public:
  explicit memory_target(std::string path) : output_(std::move(path)) {}
  result<state_output*> output() override { return &output_; }
  result<std::unique_ptr<state_output>> create_shared(const std::string&,
                                                      const std::string&) override {
    return error(errc::internal, "canonical snapshots share no files");
  }
  bool shares(const std::string&) const override { return false; }
  byte_string take() { return std::move(output_.bytes); }

private:
  struct memory_output final : state_output {
    explicit memory_output(std::string path) : name(std::move(path)) {}
    status append(byte_view data) override {
      bytes.append(data);
      return {};
    }
    std::uint64_t position() const override { return bytes.size(); }
    const std::string& path() const override { return name; }
    status finish() override { return {}; }
    std::string name;
    byte_string bytes;
  };
  memory_output output_;
};

class memory_file final : public readable_file {
public:
  explicit memory_file(byte_string bytes) : bytes_(std::move(bytes)) {}
  std::uint64_t size_bytes() const override { return bytes_.size(); }
  result<std::size_t> read_at(std::uint64_t offset, std::span<char> out) override {
    if (offset >= bytes_.size())
      return std::size_t{0};
    const auto at = static_cast<std::size_t>(offset);
    const auto count = std::min(out.size(), bytes_.size() - at);
    std::copy_n(bytes_.data() + at, count, out.data());
    return count;
  }

private:
  byte_string bytes_;
};

} // namespace

result<std::unique_ptr<snapshot_reader>>
read_as_canonical(file_system& files, const keyed_state_handle& handle, const clock* time) {
  if (handle.format == "canonical")
    return snapshot_reader::open(files, handle.segment);
  if (handle.format != heap_native::format)
    return of_another_backend(handle.format, handle.segment.path);
  HEADRACE_TRY(const auto stored, read_heap_native(files, handle));
  keyed_backend_setup setup{
      key_schema(std::make_shared<const graph::logical_type>(stored.header.key_type)),
      stored.header.max_parallelism,
      handle.groups,
      time,
      &files,
      nullptr,
      {},
      {}};
  heap_backend whole(std::move(setup));
  HEADRACE_CHECK(whole.restore({handle}));
  HEADRACE_TRY(const auto job, whole.snapshot(0, snapshot_kind::canonical));
  memory_target target(handle.segment.path);
  HEADRACE_TRY(const auto written, job->run(target));
  return snapshot_reader::open(std::make_unique<memory_file>(target.take()), written.segment);
}

} // namespace headrace::state
