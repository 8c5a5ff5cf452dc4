#include "libscheduler/dispatcher/job_store.hpp"

#include "libgraph/job_graph/job_graph_codec.hpp"
#include "libactors/message/message.hpp"

#include <map>
#include <utility>

namespace headrace::scheduler {

namespace {

constexpr std::string_view suffix = ".job";
constexpr std::uint64_t graph_bytes_max = std::uint64_t{64} << 20U;

class memory_job_store final : public job_store {
public:
  status put(const graph::job_graph& job) override {
    jobs_[job.id] = job;
    return {};
  }
  status remove(const job_id& job) override {
    jobs_.erase(job);
    return {};
  }
  result<std::vector<graph::job_graph>> load(std::vector<error>& /*refused*/) override {
    std::vector<graph::job_graph> all;
    for (const auto& [id, job] : jobs_)
      all.push_back(job);
    return all;
  }

private:
  std::map<job_id, graph::job_graph> jobs_;
};

class file_job_store final : public job_store {
public:
  file_job_store(headrace::file_system& files, std::string directory)
      : files_(files), directory_(std::move(directory)) {}

  status put(const graph::job_graph& job) override {
    HEADRACE_CHECK(files_.create_directories(directory_));
    const auto encoded = graph::encode(job);
    const auto bytes = encoded.untyped().words().asChars();
    return files_.write_atomically(path_of(job.id), {bytes.begin(), bytes.size()});
  }
  status remove(const job_id& job) override { return files_.remove(path_of(job)); }
  result<std::vector<graph::job_graph>> load(std::vector<error>& refused) override {
    auto entries = files_.list(directory_);
    if (!entries && entries.error().code == errc::file_not_found)
      return std::vector<graph::job_graph>();
    if (!entries)
      return std::move(entries).error();
    std::vector<graph::job_graph> all;
    for (const file_info& entry : *entries) {
      if (entry.is_directory || !entry.path.ends_with(suffix))
        continue;
      auto job = read(entry.path);
      if (job)
        all.push_back(std::move(*job));
      else
        refused.emplace_back(job.error().code, "stored job cannot be read: " + entry.path,
                             job.error());
    }
    return all;
  }

private:
  std::string path_of(const job_id& job) const {
    return directory_ + "/" + to_string(job) + std::string(suffix);
  }
  result<graph::job_graph> read(const std::string& path) {
    HEADRACE_TRY(auto bytes, files_.read_all(path, graph_bytes_max));
    return checked_read([&]() -> result<graph::job_graph> {
      HEADRACE_TRY(auto words, validate_message(type_id_of<schema::JobGraph>(), bytes));
      return graph::decode(*message<schema::JobGraph>(std::move(words)).view());
    });
  }

  headrace::file_system& files_;
  std::string directory_;
};

} // namespace

std::unique_ptr<job_store> make_memory_job_store() { return std::make_unique<memory_job_store>(); }

std::unique_ptr<job_store> make_file_job_store(headrace::file_system& files,
                                               std::string directory) {
  return std::make_unique<file_job_store>(files, std::move(directory));
}

} // namespace headrace::scheduler
