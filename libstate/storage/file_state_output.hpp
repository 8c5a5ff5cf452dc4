#pragma once

#include "libstate/storage/state_stream.hpp"
#include "libactors/base/file_system.hpp"

#include <memory>
#include <string>

namespace headrace::state {

/// Writes `path` under a temporary name beside it. See state_output.
class file_state_output final : public state_output {
public:
  /// @errors storage_failed, storage_full
  static result<std::unique_ptr<state_output>> create(file_system& files, std::string path);
  ~file_state_output() override;

  status append(byte_view data) override;
  std::uint64_t position() const override { return position_; }
  const std::string& path() const override { return path_; }
  status finish() override;

  /// The name of a file while it is not finished.
  static std::string temporary_path(const std::string& path);
  /// Whether a name is one that an unfinished file has.
  static bool is_temporary(std::string_view name);

private:
  file_state_output(file_system& files, std::string path, std::string temporary,
                    std::unique_ptr<writable_file> file)
      : files_(&files), path_(std::move(path)), temporary_(std::move(temporary)),
        file_(std::move(file)) {}

  file_system* files_;
  std::string path_;
  std::string temporary_;
  std::unique_ptr<writable_file> file_;
  byte_string buffered_; ///< small pieces are written together
  std::uint64_t position_ = 0;
  bool is_finished_ = false;
};

} // namespace headrace::state
