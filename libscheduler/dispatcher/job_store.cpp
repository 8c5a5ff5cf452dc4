#include "libscheduler/dispatcher/job_store.hpp"

#include "libscheduler/checkpoint/checkpoint_record.hpp"
#include "libstate/snapshot/block_codec.hpp"
#include "libgraph/job_graph/job_graph_codec.hpp"
#include "libactors/base/path.hpp"
#include "libactors/message/message.hpp"

#include <algorithm>
#include <charconv>
#include <deque>
#include <limits>
#include <map>
#include <utility>

namespace headrace::scheduler {

namespace {

constexpr std::string_view graph_suffix = ".job";
constexpr std::string_view generation_suffix = ".generation";
constexpr std::string_view ended_suffix = ".ended";
constexpr std::uint64_t generation_bytes_max = 64;
/// Stands before a stored message, and its checksum behind it; files of older releases have
/// neither.
constexpr std::string_view stored_magic = "HRSTOR01";
constexpr std::size_t front_bytes = stored_magic.size() + sizeof(std::uint64_t);
constexpr std::size_t ended_jobs_max = 100;
constexpr std::uint64_t graph_bytes_max = std::uint64_t{64} << 20U;

byte_string to_file(const any_message& what) {
  const auto words = what.words().asChars();
  const byte_view body{words.begin(), words.size()};
  byte_string out(stored_magic);
  byte_writer(out).put(state::checksum_of(body));
  out.append(body);
  return out;
}

/// @errors storage_failed  the content is not what was written
result<byte_view> content_of(byte_view file) {
  if (!file.starts_with(stored_magic))
    return file; // an older release wrote it
  byte_reader front(file.substr(stored_magic.size()));
  HEADRACE_TRY(const auto checksum, front.get<std::uint64_t>());
  const auto body = file.substr(front_bytes);
  if (checksum != state::checksum_of(body))
    return error(errc::storage_failed, "checksum does not fit");
  return body;
}

template <class Schema>
result<message<Schema>> read_message(headrace::file_system& files, const std::string& path) {
  HEADRACE_TRY(const auto bytes, files.read_all(path, graph_bytes_max));
  HEADRACE_TRY(const auto content, content_of(bytes));
  HEADRACE_TRY(auto words, validate_message(type_id_of<Schema>(), content));
  return message<Schema>(std::move(words));
}

class memory_job_store final : public job_store {
public:
  status put(const graph::job_graph& job) override {
    jobs_[job.id] = {job, 0};
    return {};
  }
  status remove(const job_id& job) override {
    jobs_.erase(job);
    return {};
  }
  result<std::vector<stored_job>> load(std::vector<error>& /*refused*/) override {
    std::vector<stored_job> all;
    for (auto& [id, job] : jobs_) {
      ++job.generation;
      all.push_back(job);
    }
    return all;
  }
  result<std::int32_t> next_generation(const job_id& job) override {
    return ++jobs_[job].generation;
  }
  status put_ended(const job_id& /*job*/, const message<schema::JobEnded>& how) override {
    ended_.push_back(how);
    if (ended_.size() > ended_jobs_max)
      ended_.pop_front();
    return {};
  }
  result<std::vector<message<schema::JobEnded>>>
  load_ended(std::vector<error>& /*refused*/) override {
    return std::vector(ended_.begin(), ended_.end());
  }

private:
  std::map<job_id, stored_job> jobs_;
  std::deque<message<schema::JobEnded>> ended_;
};

class file_job_store final : public job_store {
public:
  file_job_store(headrace::file_system& files, std::string directory)
      : files_(files), directory_(std::move(directory)), records_(files, directory_) {}

  status put(const graph::job_graph& job) override {
    HEADRACE_CHECK(files_.create_directories(directory_));
    HEADRACE_CHECK(records_.remove(job.id)); // of an older job of that id
    return files_.write_atomically(path_of(job.id, graph_suffix),
                                   to_file(graph::encode(job).untyped()));
  }
  status remove(const job_id& job) override {
    HEADRACE_CHECK(files_.remove(path_of(job, graph_suffix)));
    HEADRACE_CHECK(records_.remove(job));
    return files_.remove(path_of(job, generation_suffix));
  }
  result<std::vector<stored_job>> load(std::vector<error>& refused) override {
    auto entries = files_.list(directory_);
    if (!entries && entries.error().code == errc::file_not_found)
      return std::vector<stored_job>();
    if (!entries)
      return std::move(entries).error();
    std::vector<stored_job> all;
    for (const file_info& entry : *entries) {
      if (!entry.is_directory &&
          is_unfinished_file(entry.path)) { // of a process that ended while it wrote
        static_cast<void>(files_.remove(entry.path));
        continue;
      }
      if (entry.is_directory || !entry.path.ends_with(graph_suffix))
        continue;
      auto job = read(entry.path);
      if (!job) {
        refused.emplace_back(job.error().code, "stored job cannot be read: " + entry.path,
                             job.error());
        continue;
      }
      const auto before = last_generation(job->id);
      if (!before) {
        refused.emplace_back(before.error().code,
                             "stored job is kept and not run: " + to_string(job->id),
                             before.error());
        continue;
      }
      HEADRACE_CHECK(keep_generation(job->id, *before + 1));
      all.push_back({std::move(*job), *before + 1});
    }
    return all;
  }
  result<std::int32_t> next_generation(const job_id& job) override {
    HEADRACE_TRY(const auto before, last_generation(job));
    HEADRACE_CHECK(keep_generation(job, before + 1));
    return before + 1;
  }

  status put_ended(const job_id& job, const message<schema::JobEnded>& how) override {
    HEADRACE_CHECK(files_.create_directories(directory_));
    HEADRACE_CHECK(files_.write_atomically(path_of(job, ended_suffix), to_file(how.untyped())));
    HEADRACE_TRY(auto ended, list_ended());
    for (std::size_t i = 0; i + ended_jobs_max < ended.size(); ++i)
      HEADRACE_CHECK(files_.remove(ended[i].path));
    return {};
  }
  result<std::vector<message<schema::JobEnded>>> load_ended(std::vector<error>& refused) override {
    std::vector<message<schema::JobEnded>> all;
    HEADRACE_TRY(const auto ended, list_ended());
    for (const auto& entry : ended) {
      auto how = checked_read([&] { return read_message<schema::JobEnded>(files_, entry.path); });
      if (how)
        all.push_back(std::move(*how));
      else
        refused.emplace_back(how.error().code, "end of a job cannot be read: " + entry.path,
                             how.error());
    }
    return all;
  }

private:
  /// Oldest first.
  result<std::vector<file_info>> list_ended() {
    auto entries = files_.list(directory_);
    if (!entries && entries.error().code == errc::file_not_found)
      return std::vector<file_info>();
    if (!entries)
      return std::move(entries).error();
    std::erase_if(*entries, [](const file_info& entry) {
      return entry.is_directory || !entry.path.ends_with(ended_suffix);
    });
    std::stable_sort(entries->begin(), entries->end(), [](const file_info& a, const file_info& b) {
      return a.modified_ms < b.modified_ms;
    });
    return entries;
  }
  std::string path_of(const job_id& job, std::string_view suffix) const {
    return directory_ + "/" + to_string(job) + std::string(suffix);
  }
  result<graph::job_graph> read(const std::string& path) {
    return checked_read([&]() -> result<graph::job_graph> {
      HEADRACE_TRY(const auto stored, read_message<schema::JobGraph>(files_, path));
      return graph::decode(*stored.view());
    });
  }
  status keep_generation(const job_id& job, std::int32_t generation) {
    return files_.write_atomically(path_of(job, generation_suffix), std::to_string(generation));
  }
  /// How often the job was begun, 0: never. Attempts of a number that was given before could be
  /// taken for those of today, so a guess is none.
  result<std::int32_t> last_generation(const job_id& job) {
    const auto path = path_of(job, generation_suffix);
    const auto text = files_.read_all(path, generation_bytes_max);
    if (!text && text.error().code == errc::file_not_found)
      return 0;
    if (!text)
      return text.error();
    std::int32_t generation = 0;
    const auto* end = text->data() + text->size();
    const auto [stop, failed] = std::from_chars(text->data(), end, generation);
    if (failed != std::errc() || stop != end || generation < 0 ||
        generation == std::numeric_limits<std::int32_t>::max())
      return error(errc::storage_failed,
                   "how often the job was begun is not a number in its file: " + path +
                       "; write a number there that is larger than it ever was, such as 1000000");
    return generation;
  }

  headrace::file_system& files_;
  std::string directory_;
  checkpoint_records records_;
};

} // namespace

std::unique_ptr<job_store> make_memory_job_store() { return std::make_unique<memory_job_store>(); }

std::unique_ptr<job_store> make_file_job_store(headrace::file_system& files,
                                               std::string directory) {
  return std::make_unique<file_job_store>(files, std::move(directory));
}

} // namespace headrace::scheduler
