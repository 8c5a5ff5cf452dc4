#include "libtask/connector/file/file_writer.hpp"

#include "libtask/connector/inserts_only.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace headrace::task {
namespace {

/// A full disk stays `storage_full`, whoever asks; all else is `output_failed`.
error output_error(const std::string& path, error cause) {
  const bool full = cause.has(errc::storage_full);
  return {full ? errc::storage_full : errc::output_failed,
          (full ? "output cannot be written, the disk is full: " : "output cannot be written: ") +
              path,
          std::move(cause)};
}

/// Of a job's first start, before a row is written: the path is wrong, and will be after a restart.
error start_error(const std::string& path, error cause, bool is_fresh) {
  if (is_fresh && !cause.has(errc::storage_full))
    return {errc::bad_option_value,
            "bad value of option 'path' of sink 'file': output cannot be made there: " + path,
            std::move(cause)};
  return output_error(path, std::move(cause));
}

} // namespace

result<std::unique_ptr<graph::sink_writer>>
file_writer::create(file_output output, std::unique_ptr<graph::encoder> encoder,
                    graph::writer_context context, const std::vector<byte_string>& restored) {
  std::unique_ptr<file_writer> made(
      new file_writer(std::move(output), std::move(encoder), std::move(context)));
  HEADRACE_CHECK(made->start(restored));
  return std::unique_ptr<graph::sink_writer>(std::move(made));
}

file_writer::file_writer(file_output output, std::unique_ptr<graph::encoder> encoder,
                         graph::writer_context context)
    : output_(std::move(output)), encoder_(std::move(encoder)), context_(std::move(context)),
      names_(context_) {}

std::string file_writer::path_of(const std::string& name) const {
  return output_.directory + "/" + name;
}

status file_writer::start(const std::vector<byte_string>& restored) {
  std::map<std::int32_t, std::uint64_t> known; // subtask → files below it are in the checkpoint
  for (const auto& bytes : restored) {
    HEADRACE_TRY(const auto state, file_writer_state::decode(bytes));
    auto& next = known[state.subtask];
    next = std::max(next, state.next_number);
    if (state.subtask == context_.subtask)
      next_number_ = std::max(next_number_, state.next_number);
  }
  if (context_.is_fresh && names_.are_of_one_job())
    known.emplace(context_.subtask, 0);
  if (auto made = context_.files.create_directories(output_.directory); !made)
    return start_error(output_.directory, std::move(made).error(), context_.is_fresh);
  auto entries = context_.files.list(output_.directory);
  if (!entries)
    return start_error(output_.directory, std::move(entries).error(), context_.is_fresh);
  for (const auto& entry : *entries) {
    const auto name = std::string_view(entry.path).substr(entry.path.rfind('/') + 1);
    const auto part = names_.parse(name);
    if (!part)
      continue;
    if (part->subtask == context_.subtask)
      next_number_ = std::max(next_number_, part->number + 1); // a name is never given twice
    const auto its = known.find(part->subtask);
    const bool is_ours = part->subtask == context_.subtask || part->subtask >= context_.parallelism;
    if (!part->is_hidden || !is_ours || its == known.end() || part->number < its->second)
      continue; // the file of another subtask may be written to right now
    context_.log.info("removing output that no checkpoint knows", {{"path", entry.path}});
    if (auto removed = context_.files.remove(entry.path); !removed)
      return output_error(entry.path, std::move(removed).error());
  }
  return context_.is_fresh ? try_out() : status();
}

status file_writer::try_out() {
  const auto path = path_of(names_.hidden_name(context_.subtask, next_number_));
  auto file = context_.files.create(path);
  if (!file)
    return start_error(path, std::move(file).error(), true);
  if (auto closed = (*file)->close(); !closed)
    return output_error(path, std::move(closed).error());
  if (auto removed = context_.files.remove(path); !removed)
    return output_error(path, std::move(removed).error());
  return {};
}

status file_writer::write(const graph::record_batch& rows) {
  HEADRACE_CHECK(check_inserts_only(rows, "sink 'file'"));
  encoded_.clear();
  HEADRACE_CHECK(encoder_->encode(rows, encoded_));
  if (encoded_.empty())
    return {};
  if (file_ == nullptr)
    HEADRACE_CHECK(open_part());
  if (auto appended = file_->append(encoded_); !appended)
    return output_error(part_.hidden_path, std::move(appended).error());
  part_.size_bytes += encoded_.size();
  return part_.size_bytes >= output_.part_bytes_max ? close_part() : status();
}

status file_writer::open_part() {
  const auto number = next_number_++;
  part_ = {path_of(names_.hidden_name(context_.subtask, number)),
           path_of(names_.final_name(context_.subtask, number)), 0};
  auto file = context_.files.create(part_.hidden_path);
  if (!file)
    return output_error(part_.hidden_path, std::move(file).error());
  file_ = std::move(*file);
  return {};
}

status file_writer::close_part() {
  if (auto synced = file_->sync(); !synced)
    return output_error(part_.hidden_path, std::move(synced).error());
  if (auto closed = file_->close(); !closed)
    return output_error(part_.hidden_path, std::move(closed).error());
  file_.reset();
  pending_.push_back(std::exchange(part_, {}));
  return {};
}

result<std::vector<graph::committable>> file_writer::prepare_commit(bool /*end_of_input*/) {
  if (file_ != nullptr)
    HEADRACE_CHECK(close_part());
  std::vector<graph::committable> out;
  for (const auto& part : pending_)
    out.push_back(part.encode());
  pending_.clear();
  return out;
}

result<byte_string> file_writer::snapshot(checkpoint_id /*checkpoint*/) {
  return file_writer_state{context_.subtask, next_number_}.encode();
}

status file_writer::close() {
  if (file_ != nullptr) {
    file_.reset();
    pending_.push_back(std::exchange(part_, {}));
  }
  status out;
  for (const auto& part : std::exchange(pending_, {})) {
    if (auto removed = context_.files.remove(part.hidden_path); !removed)
      out = output_error(part.hidden_path, std::move(removed).error());
  }
  return out;
}

result<graph::commit_later> file_committer::commit(const std::vector<graph::committable>& what) {
  graph::commit_later out;
  for (const auto& bytes : what) {
    HEADRACE_TRY(const auto part, pending_part::decode(bytes));
    HEADRACE_TRY(auto obstacle, commit_part(part));
    if (!obstacle)
      continue;
    out.what.push_back(bytes);
    out.cause = std::move(obstacle);
  }
  return out;
}

result<std::optional<error>> file_committer::commit_part(const pending_part& part) {
  using passing = std::optional<error>;
  const auto fail = [&](const std::string& why) {
    return error(errc::commit_failed, "output cannot be made visible, " + why + ": " +
                                          part.hidden_path + " to become " + part.final_path);
  };
  const auto visible = context_.files.stat(part.final_path);
  if (!visible && !visible.error().has(errc::file_not_found))
    return passing(error(errc::commit_failed, "output cannot be made visible: " + part.final_path,
                         visible.error()));
  const auto hidden = context_.files.stat(part.hidden_path);
  if (!hidden && !hidden.error().has(errc::file_not_found))
    return passing(error(errc::commit_failed, "output cannot be made visible: " + part.hidden_path,
                         hidden.error()));
  if (!hidden) {
    if (visible && visible->size_bytes == part.size_bytes)
      return passing(); // it was renamed before
    return visible ? fail("a file of other size has its name") : fail("both files are gone");
  }
  if (hidden->size_bytes != part.size_bytes)
    return fail("it has " + std::to_string(hidden->size_bytes) + " bytes instead of " +
                std::to_string(part.size_bytes));
  if (visible)
    return fail("another file has its name");
  if (auto renamed = context_.files.rename(part.hidden_path, part.final_path); !renamed)
    return passing(error(errc::commit_failed,
                         "output cannot be made visible: " + part.hidden_path + " to become " +
                             part.final_path,
                         std::move(renamed).error()));
  return passing();
}

} // namespace headrace::task
