#include "libscheduler/checkpoint/checkpoint_record.hpp"

#include "libstate/snapshot/block_codec.hpp"
#include "libactors/base/bytes.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace headrace::scheduler {

namespace {

constexpr std::string_view magic = "HRCHKP01";
constexpr std::uint64_t record_bytes_max = std::uint64_t{64} << 10U;

/// What a refused recovery is known by, with its code, which a task may fail with, too.
constexpr std::string_view refused_words =
    "job cannot go on from where the last job manager left it";

/// Magic, checksum of what follows, id, directory.
byte_string to_file(const recorded_checkpoint& record) {
  byte_string body;
  byte_writer(body).put(record.id);
  body.append(record.directory);
  byte_string out(magic);
  byte_writer(out).put(state::checksum_of(body));
  out.append(body);
  return out;
}

result<recorded_checkpoint> from_file(byte_view file) {
  if (!file.starts_with(magic))
    return error(errc::storage_failed, "record is none");
  file.remove_prefix(magic.size());
  byte_reader front(file);
  HEADRACE_TRY(const auto checksum, front.get<std::uint64_t>());
  file.remove_prefix(sizeof(checksum));
  if (checksum != state::checksum_of(file))
    return error(errc::storage_failed, "checksum does not fit");
  byte_reader body(file);
  recorded_checkpoint out;
  HEADRACE_TRY(out.id, body.get<checkpoint_id>());
  file.remove_prefix(sizeof(out.id));
  out.directory = file;
  return out;
}

error lost(const state::checkpoint_storage& storage, const recorded_checkpoint& recorded,
           const error& why) {
  const auto directory = storage.directory(recorded.id);
  return {why.code,
          "newest completed checkpoint of the job cannot be read, and an older one would give rows "
          "twice that sinks have committed: " +
              directory +
              (recorded.directory == directory ? "" : ", written to " + recorded.directory),
          why};
}

} // namespace

std::string checkpoint_records::path_of(const job_id& job) const {
  return directory_ + "/" + to_string(job) + ".checkpoint";
}

status checkpoint_records::put(const job_id& job, const recorded_checkpoint& newest) const {
  return files_->write_atomically(path_of(job), to_file(newest));
}

result<std::optional<recorded_checkpoint>> checkpoint_records::get(const job_id& job) const {
  const auto path = path_of(job);
  const auto stored = files_->read_all(path, record_bytes_max);
  if (!stored && stored.error().has(errc::file_not_found))
    return std::optional<recorded_checkpoint>();
  auto record = stored ? from_file(*stored) : result<recorded_checkpoint>(stored.error());
  if (!record)
    return error(
        errc::storage_failed,
        "record of the job's newest checkpoint cannot be read; when it is removed, the job "
        "goes on from the newest checkpoint there is: " +
            path,
        std::move(record).error());
  return std::optional(std::move(*record));
}

status checkpoint_records::remove(const job_id& job) const { return files_->remove(path_of(job)); }

status store_completed(state::checkpoint_storage& storage, const checkpoint_records* records,
                       state::completed_checkpoint& checkpoint) {
  HEADRACE_CHECK(storage.complete(checkpoint));
  if (records == nullptr)
    return {};
  auto recorded = records->put(checkpoint.job, {checkpoint.id, checkpoint.directory});
  if (recorded)
    return {};
  // When the record is the lasting one in spite of the error, what it names has to be there.
  const auto now = records->get(checkpoint.job);
  if (now && (!*now || (*now)->id != checkpoint.id)) // with itself kept, no shared file goes
    static_cast<void>(storage.remove(checkpoint, {checkpoint}).has_value());
  return error(recorded.error().code,
               "newest checkpoint cannot be recorded: " + checkpoint.directory, recorded.error());
}

error refused_recovery(const job_id& job, const error& why) {
  return {errc::state_not_found,
          std::string(refused_words) +
              ", and stays stored: mend what is named below (bring a lost checkpoint back to its "
              "place) and start the job manager again; or give the job up with headrace cancel " +
              to_string(job) + ", and submit it again from an older checkpoint or from none",
          why};
}

bool is_refused_recovery(const error& failure) {
  return failure.code == errc::state_not_found && failure.message.starts_with(refused_words);
}

result<recovered_checkpoints> recover_checkpoints(state::checkpoint_storage& storage,
                                                  const checkpoint_records* records,
                                                  const job_id& job) {
  recorded_checkpoint recorded;
  if (records != nullptr) {
    HEADRACE_TRY(auto found, records->get(job));
    recorded = found.value_or(recorded_checkpoint{});
  }
  recovered_checkpoints out;
  auto ids = storage.list();
  if (!ids && !ids.error().has(errc::file_not_found))
    return std::move(ids).error();
  for (const auto id : ids ? *ids : std::vector<checkpoint_id>()) {
    out.last = id;
    auto checkpoint = storage.read(id);
    if (checkpoint)
      out.completed.push_back(std::move(*checkpoint));
    else if (id == recorded.id)
      return lost(storage, recorded, checkpoint.error());
    else
      out.refused.push_back(checkpoint.error());
  }
  const auto newest = out.completed.empty() ? 0 : out.completed.back().id;
  if (recorded.id != 0 && std::none_of(out.completed.begin(), out.completed.end(),
                                       [&](const auto& each) { return each.id == recorded.id; })) {
    const auto read = storage.read(recorded.id);
    return lost(storage, recorded,
                read ? error(errc::file_not_found, "it was not there a moment ago") : read.error());
  }
  if (newest == 0 && !out.refused.empty())
    return error(errc::corrupt_snapshot, "no checkpoint of the job can be read",
                 out.refused.front());
  // Sinks commit what is before it as soon as the job goes on.
  if (records != nullptr && newest != recorded.id)
    HEADRACE_CHECK(records->put(job, {newest, out.completed.back().directory}));
  return out;
}

} // namespace headrace::scheduler
