#include "libtask/connector/file/file_writer.hpp"

#include "libtask/connector/inserts_only.hpp"
#include "libtask/format/scalar_text.hpp"
#include "libgraph/data/stream_element.hpp"
#include "libactors/base/assert.hpp"
#include "libactors/base/file_failure.hpp"
#include "libactors/base/text.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace headrace::task {
namespace {

constexpr std::size_t open_parts_max = 64;
constexpr std::size_t name_bytes_max = 255; ///< of a directory, in the file systems of our days

/// A full disk stays `storage_full`, whoever asks; all else is `output_failed`.
error output_error(const std::string& path, error cause) {
  const bool full = cause.has(errc::storage_full);
  return {full ? errc::storage_full : errc::output_failed,
          (full ? "output cannot be written, the disk is full: " : "output cannot be written: ") +
              path,
          std::move(cause)};
}

status check_names(std::string_view partition) {
  for (const auto name : split_text(partition, '/'))
    if (name.size() > name_bytes_max)
      return error(errc::output_unusable,
                   "a partition's value is too long to name a directory, of which " +
                       std::to_string(name_bytes_max) + " bytes are the most: " +
                       std::string(name.substr(0, 60)) + "…; partition by a shorter column");
  return {};
}

/// Of a job's first start, before a row is written: a path that is wrong will be so after a
/// restart. A disk or a server that does not answer now may answer then.
error start_error(const std::string& path, error cause, bool is_fresh) {
  if (is_fresh && (cause.has(file_unusable) || cause.has(errc::file_not_found)))
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
      names_(context_), watermark_ms_(graph::watermark::none) {}

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
  HEADRACE_CHECK(remove_unknown(output_.directory, output_.partition_columns.size(), known));
  return context_.is_fresh ? try_out() : status();
}

status file_writer::remove_unknown(const std::string& directory, std::size_t depth,
                                   const std::map<std::int32_t, std::uint64_t>& known) {
  auto entries = context_.files.list(directory);
  if (!entries)
    return start_error(directory, std::move(entries).error(), context_.is_fresh);
  for (const auto& entry : *entries) {
    const auto name = std::string_view(entry.path).substr(entry.path.rfind('/') + 1);
    if (entry.is_directory && depth > 0 && !name.starts_with('.')) {
      HEADRACE_CHECK(remove_unknown(entry.path, depth - 1, known));
      continue;
    }
    const auto part = names_.parse(name);
    if (!part)
      continue;
    if (part->subtask == context_.subtask)
      next_number_ = std::max(next_number_, part->number + 1); // a name is never given twice
    const auto its = known.find(part->subtask);
    const bool is_ours = part->subtask == context_.subtask || part->subtask >= context_.parallelism;
    if (!part->is_hidden || !is_ours || its == known.end() || part->number < its->second)
      continue; // the file of another subtask may be written to right now
    if (part->is_prepared)
      continue; // no checkpoint that completed knows it, but a savepoint may
    context_.log.info("removing output that no checkpoint knows", {{"path", entry.path}});
    if (auto removed = context_.files.remove(entry.path); !removed)
      return output_error(entry.path, std::move(removed).error());
  }
  return {};
}

status file_writer::try_out() {
  const auto path = output_.directory + "/" + names_.hidden_name(context_.subtask, next_number_);
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
  if (!output_.has_changes)
    HEADRACE_CHECK(check_inserts_only(rows, "sink 'file'"));
  if (!output_.partition_columns.empty())
    return write_partitions(rows);
  return write_to(output_.directory, rows);
}

status file_writer::write_partitions(const graph::record_batch& rows) {
  std::unordered_map<std::string, std::vector<std::uint32_t>> by_values;
  std::string key;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = rows.row_at(i);
    key.clear();
    for (const auto column : output_.partition_columns) {
      const auto& values = rows.at(column);
      key += values.is_null(row) ? '\0' : '\1';
      if (!values.is_null(row))
        write_scalar(values, row, timestamp_style::sql, key);
      key += '\0';
    }
    by_values[key].push_back(row);
  }
  std::vector<int> kept;
  for (const auto& field : output_.file_type->fields())
    kept.push_back(rows.type()->field_index(field.name));
  for (const auto& [values, chosen] : by_values) {
    partition_values named;
    for (const auto column : output_.partition_columns) {
      named.emplace_back();
      if (rows.at(column).is_null(chosen.front()))
        continue;
      named.back().emplace();
      write_scalar(rows.at(column), chosen.front(), timestamp_style::sql, *named.back());
    }
    auto indices = graph::buffer::allocate(chosen.size() * sizeof(std::uint32_t));
    std::copy(chosen.begin(), chosen.end(), indices->mutable_as<std::uint32_t>());
    const auto part =
        rows.project(output_.file_type, kept).with_selection(std::move(indices), chosen.size());
    const auto path = partition_path(output_.partition_keys, named, output_.missing_partition);
    HEADRACE_CHECK(check_names(path));
    HEADRACE_CHECK(write_to(output_.directory + "/" + path, part));
  }
  return {};
}

status file_writer::write_to(const std::string& directory, const graph::record_batch& rows) {
  encoded_.clear();
  HEADRACE_CHECK(encoder_->encode(rows, encoded_));
  if (encoded_.empty())
    return {};
  HEADRACE_TRY(auto* const open, part_in(directory));
  if (auto appended = open->file->append(encoded_); !appended)
    return output_error(open->part.hidden_path, std::move(appended).error());
  open->part.size_bytes += encoded_.size();
  return open->part.size_bytes >= output_.part_bytes_max ? close_part(open_.find(directory))
                                                         : status();
}

result<file_writer::open_part*> file_writer::part_in(const std::string& directory) {
  if (const auto found = open_.find(directory); found != open_.end())
    return &found->second;
  if (open_.size() >= open_parts_max)
    HEADRACE_CHECK(close_part(open_.begin()));
  if (!output_.partition_columns.empty()) {
    if (auto made = context_.files.create_directories(directory); !made)
      return output_error(directory, std::move(made).error());
  }
  const auto number = next_number_++;
  open_part made;
  made.part = {directory + "/" + names_.hidden_name(context_.subtask, number),
               directory + "/" + names_.final_name(context_.subtask, number), 0};
  auto file = context_.files.create(made.part.hidden_path);
  if (!file)
    return output_error(made.part.hidden_path, std::move(file).error());
  made.file = std::move(*file);
  return &open_.emplace(directory, std::move(made)).first->second;
}

status file_writer::close_part(open_parts::iterator which) {
  auto& [file, part] = which->second;
  if (auto synced = file->sync(); !synced)
    return output_error(part.hidden_path, std::move(synced).error());
  if (auto closed = file->close(); !closed)
    return output_error(part.hidden_path, std::move(closed).error());
  pending_.push_back(std::move(part));
  open_.erase(which);
  return {};
}

/// From now on only who commits it touches the file: a later attempt leaves it alone.
status file_writer::mark_prepared(pending_part& part) {
  const auto slash = part.final_path.rfind('/');
  const auto own = names_.parse(std::string_view(part.final_path).substr(slash + 1));
  HEADRACE_ASSERT(own.has_value(), "a file of this sink");
  auto path =
      part.final_path.substr(0, slash + 1) + names_.prepared_name(own->subtask, own->number);
  if (auto renamed = context_.files.rename(part.hidden_path, path); !renamed)
    return output_error(part.hidden_path, std::move(renamed).error());
  part.hidden_path = std::move(path);
  return {};
}

result<std::vector<graph::committable>> file_writer::prepare_commit(bool end_of_input) {
  while (!open_.empty())
    HEADRACE_CHECK(close_part(open_.begin()));
  std::vector<graph::committable> out;
  for (auto& part : pending_) {
    HEADRACE_CHECK(mark_prepared(part));
    out.push_back(part.encode());
  }
  pending_.clear();
  if (end_of_input && context_.subtask == 0 && output_.overwritten)
    out.push_back(pending_part{{}, output_.directory + "/" + *output_.overwritten, 0}.encode());
  if (output_.marking)
    out.push_back(writer_progress{context_.subtask, context_.parallelism,
                                  end_of_input ? graph::watermark::end : watermark_ms_}
                      .encode());
  return out;
}

result<byte_string> file_writer::snapshot(checkpoint_id /*checkpoint*/) {
  return file_writer_state{context_.subtask, next_number_}.encode();
}

status file_writer::close() {
  for (auto& [directory, open] : std::exchange(open_, {})) {
    open.file.reset();
    pending_.push_back(open.part);
  }
  status out;
  for (const auto& part : std::exchange(pending_, {})) {
    if (auto removed = context_.files.remove(part.hidden_path); !removed)
      out = output_error(part.hidden_path, std::move(removed).error());
  }
  return out;
}

file_committer::file_committer(file_output output, graph::writer_context context)
    : output_(std::move(output)), context_(std::move(context)), names_(context_) {
  if (output_.marking)
    partitions_.emplace(output_.directory, *output_.marking, context_);
}

result<graph::commit_later> file_committer::commit_all(const std::vector<graph::committable>& what,
                                                       bool are_restored) {
  graph::commit_later out;
  std::vector<writer_progress> progress;
  for (const auto& bytes : what) {
    HEADRACE_TRY(const auto reached, writer_progress::decode(bytes));
    if (reached) {
      progress.push_back(*reached);
      continue;
    }
    HEADRACE_TRY(const auto part, pending_part::decode(bytes));
    HEADRACE_TRY(auto obstacle, part.is_clearing() ? clear(part) : commit_part(part, are_restored));
    if (!obstacle)
      continue;
    out.what.push_back(bytes);
    out.cause = std::move(obstacle);
  }
  for (const auto& each : progress) {
    // Only when all rows before it are visible.
    auto marked = out.what.empty() && partitions_ ? partitions_->commit(each) : status();
    if (!marked)
      out.cause = std::move(marked).error();
    if (out.cause)
      out.what.push_back(each.encode());
  }
  return out;
}

status file_committer::clear_others(const std::string& directory) {
  if (!output_.overwrites || !cleared_.insert(directory).second)
    return {};
  const auto entries = context_.files.list(directory);
  if (!entries)
    return entries.error().has(errc::file_not_found) ? status() : status(entries.error());
  for (const auto& each : *entries) {
    const auto name = std::string_view(each.path).substr(each.path.rfind('/') + 1);
    if (each.is_directory || name.starts_with('.') || names_.is_own(name))
      continue;
    HEADRACE_CHECK(context_.files.remove(each.path));
  }
  return {};
}

result<std::optional<error>> file_committer::clear(const pending_part& part) {
  auto cleared = clear_others(part.final_path.substr(0, part.final_path.rfind('/')));
  return cleared ? std::optional<error>()
                 : error(errc::commit_failed,
                         "what was there cannot be overwritten: " + part.final_path,
                         std::move(cleared).error());
}

result<std::optional<error>> file_committer::commit_part(const pending_part& part,
                                                         bool is_restored) {
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
    if (visible)
      return fail("a file of other size has its name");
    if (!is_restored)
      return fail("both files are gone");
    context_.log.warn("output that was written before is not there any more: it was moved away or "
                      "removed, and is not written again",
                      {{"file", part.final_path}});
    return passing();
  }
  if (hidden->size_bytes != part.size_bytes)
    return fail("it has " + std::to_string(hidden->size_bytes) + " bytes instead of " +
                std::to_string(part.size_bytes));
  if (visible)
    return fail("another file has its name");
  HEADRACE_TRY(auto obstacle, clear(part));
  if (obstacle)
    return obstacle;
  if (auto renamed = context_.files.rename(part.hidden_path, part.final_path); !renamed)
    return passing(error(errc::commit_failed,
                         "output cannot be made visible: " + part.hidden_path + " to become " +
                             part.final_path,
                         std::move(renamed).error()));
  return passing();
}

} // namespace headrace::task
