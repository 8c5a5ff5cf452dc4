#pragma once

#include "libstate/storage/state_stream.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace headrace::bench {

/// Counts what a snapshot writes, and keeps none of it. One thread at a time.
class counting_target final : public state::snapshot_target {
public:
  result<state::state_output*> output() override {
    return static_cast<state::state_output*>(&own_);
  }
  result<std::unique_ptr<state::state_output>>
  create_shared(const std::string& name, const std::string& /*local_source*/) override {
    ++files;
    std::unique_ptr<state::state_output> made =
        std::make_unique<counting_output>(bytes, "shared/" + name);
    return made;
  }
  bool shares(const std::string& path) const override { return path.starts_with("shared/"); }

  std::uint64_t bytes = 0; ///< in all files
  int files = 0;           ///< that are shared

private:
  class counting_output final : public state::state_output {
  public:
    counting_output(std::uint64_t& bytes, std::string path)
        : bytes_(&bytes), path_(std::move(path)) {}
    status append(byte_view data) override {
      position_ += data.size();
      *bytes_ += data.size();
      return {};
    }
    std::uint64_t position() const override { return position_; }
    const std::string& path() const override { return path_; }
    status finish() override { return {}; }

  private:
    std::uint64_t* bytes_;
    std::uint64_t position_ = 0;
    std::string path_;
  };

  counting_output own_{bytes, "own"};
};

} // namespace headrace::bench
