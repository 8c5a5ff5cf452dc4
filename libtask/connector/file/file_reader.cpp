#include "libtask/connector/file/file_reader.hpp"

#include "libtask/connector/file/input_files.hpp"
#include "libtask/connector/file/partition_path.hpp"
#include "libtask/format/scalar_text.hpp"
#include "libgraph/connector/file_metadata.hpp"
#include "libactors/base/text.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace headrace::task {
namespace {

constexpr std::uint64_t least_read_bytes = 4096;

} // namespace

std::vector<std::string> file_reading::constants() const {
  auto out = partition_keys;
  out.insert(out.end(), metadata_fields.begin(), metadata_fields.end());
  return out;
}

file_reader::file_reader(file_reading reading, std::unique_ptr<graph::decoder> decoder,
                         graph::reader_context context)
    : reading_(std::move(reading)), decoder_(std::move(decoder)), context_(std::move(context)),
      limiter_(reading_.rows_per_second),
      rows_(reading_.decoded == nullptr ? reading_.type : reading_.decoded),
      dead_letters_(graph::dead_letter_type()) {
  reading_.decoded = rows_.type();
}

status file_reader::add_split(graph::source_split split) {
  HEADRACE_TRY(auto decoded, file_split::decode(split.state));
  waiting_.push_back(std::move(decoded));
  return {};
}

void file_reader::close() {
  file_.reset();
  block_.reset();
  blocks_.clear();
  split_.reset();
  waiting_.clear();
}

result<std::optional<graph::fetched>> file_reader::fetch(const graph::fetch_budget& budget) {
  if (!split_) {
    if (waiting_.empty())
      return std::optional<graph::fetched>();
    HEADRACE_CHECK(open_next());
  }
  const auto allowed = limiter_.allowance(context_.time.now_us());
  if (allowed == 0) {
    auto out = finish_fetch({});
    out.wait = limiter_.wait();
    return std::optional(std::move(out));
  }
  if (needs_more_ && !is_exhausted()) {
    HEADRACE_CHECK(read_block());
    if (!split_->is_aligned && !skip_to_first_record())
      return std::optional(finish_fetch({}));
    look_for_last_record();
  }
  std::size_t skipped = 0;
  if (!is_exhausted()) {
    const auto rows_max = std::min(budget.rows_max, allowed);
    HEADRACE_TRY(const auto done, decode(rows_max));
    skipped = done.skipped;
    needs_more_ = rows_.size() < rows_max || begin_ == end_;
  }
  limiter_.take(rows_.size());
  auto out =
      finish_fetch(rows_.is_empty() ? graph::record_batch() : with_constants(rows_.finish()));
  out.skipped_records = skipped;
  return std::optional(std::move(out));
}

status file_reader::open_next() {
  auto split = std::move(waiting_.front());
  waiting_.pop_front();
  HEADRACE_CHECK(read_constants(split.path));
  auto file = context_.files.open(split.path);
  if (!file)
    return input_failure(split.path, std::move(file).error());
  file_ = std::move(*file);
  if (file_->size_bytes() < split.end)
    return error(errc::input_unreadable,
                 "input is shorter than when it was found, files must not change while they are "
                 "read: " +
                     split.path + ", " + std::to_string(file_->size_bytes()) +
                     " bytes instead of " + std::to_string(split.end));
  // One byte earlier: a line break there means that the split starts with a record.
  block_offset_ = split.is_aligned ? split.next : split.next - 1;
  block_ = nullptr;
  begin_ = end_ = searched_ = 0;
  at_file_end_ = false;
  needs_more_ = true;
  records_end_.reset();
  if (split.is_aligned && split.next >= split.end)
    records_end_ = split.next;
  split_ = std::move(split);
  return {};
}

status file_reader::read_block() {
  const auto rest = end_ - begin_;
  if (rest > reading_.record_bytes_max)
    return error(errc::malformed_record, "malformed record: " + split_->path + ", record at byte " +
                                             std::to_string(offset()) + ": longer than " +
                                             std::to_string(reading_.record_bytes_max) +
                                             " bytes, does the file have line breaks");
  // Doubles while a record is not whole. One byte more than the file has tells that it ends; small
  // files get small blocks.
  const auto at = block_offset_ + end_;
  const auto left = file_->size_bytes() - std::min(at, file_->size_bytes());
  const auto wanted = static_cast<std::size_t>(
      std::min<std::uint64_t>(std::max(reading_.block_bytes, rest), left + least_read_bytes));
  auto block = blocks_.take(rest + wanted);
  if (rest > 0)
    std::memcpy(block->mutable_data(), block_->data() + begin_, rest);
  auto read = file_->read_at(at, {block->mutable_as<char>() + rest, wanted});
  if (!read)
    return input_failure(split_->path, std::move(read).error());
  block_offset_ += begin_;
  searched_ -= std::min(searched_, begin_);
  begin_ = 0;
  end_ = rest + *read;
  at_file_end_ = *read < wanted;
  block_ = std::move(block);
  if (at_file_end_ && block_offset_ + end_ < split_->end)
    return error(errc::input_unreadable, "input became shorter while it was read: " + split_->path);
  return {};
}

/// Drops the record that the previous split finishes; false when all of the block belongs to it.
bool file_reader::skip_to_first_record() {
  const auto* bytes = block_->as<char>();
  const auto* found = static_cast<const char*>(std::memchr(bytes + begin_, '\n', end_ - begin_));
  begin_ = found == nullptr ? end_ : static_cast<std::size_t>(found - bytes) + 1;
  split_->is_aligned = found != nullptr;
  if (offset() >= split_->end || (found == nullptr && at_file_end_)) {
    records_end_ = offset(); // no record begins in this split
    split_->is_aligned = true;
  }
  return found != nullptr;
}

/// Finds the line break that ends the last record: the first one at or behind the split's last
/// byte.
void file_reader::look_for_last_record() {
  if (records_end_)
    return;
  if (reading_.splittable && block_offset_ + end_ >= split_->end) {
    const auto last_byte = split_->end - 1;
    const auto from = std::max(
        {begin_, searched_,
         static_cast<std::size_t>(last_byte > block_offset_ ? last_byte - block_offset_ : 0)});
    const auto* bytes = block_->as<char>();
    if (const void* found = std::memchr(bytes + from, '\n', end_ - from); found != nullptr)
      records_end_ =
          block_offset_ + static_cast<std::size_t>(static_cast<const char*>(found) - bytes) + 1;
    searched_ = end_;
  }
  if (!records_end_ && at_file_end_)
    records_end_ = block_offset_ + end_;
}

bool file_reader::is_exhausted() const { return records_end_ && offset() >= *records_end_; }

result<graph::decoded> file_reader::decode(std::size_t rows_max) {
  const auto end =
      records_end_ ? std::min<std::uint64_t>(end_, *records_end_ - block_offset_) : end_;
  const bool last = records_end_ && *records_end_ <= block_offset_ + end_;
  const byte_view input(block_->as<char>() + begin_, static_cast<std::size_t>(end) - begin_);
  const graph::decode_origin origin{split_->path, offset(),
                                    split_->start == 0 ? split_->lines + 1 : 0,
                                    reading_.keeps_malformed ? &malformed_ : nullptr};
  auto done = decoder_->decode(input, last, origin, rows_max, block_, rows_);
  if (!done)
    return with_line(std::move(done).error(), origin, input, last);
  keep_malformed(begin_);
  begin_ += done->bytes;
  split_->lines += done->lines;
  return done;
}

void file_reader::keep_malformed(std::size_t from) {
  const auto* bytes = block_->as<char>() + from;
  for (const auto& each : malformed_) {
    dead_letters_.column(0).append_string({bytes + each.begin, each.size});
    dead_letters_.column(1).append_string(each.reason);
    dead_letters_.column(2).append_string(split_->path);
    dead_letters_.column(3).append(static_cast<std::int64_t>(block_offset_ + from + each.begin));
    dead_letters_.end_row();
  }
  malformed_.clear();
}

/// Decodes once more with the line number, which splits inside a file do not know: they count the
/// lines before them only when there is something to complain about.
error file_reader::with_line(error failure, const graph::decode_origin& origin, byte_view input,
                             bool last) {
  if (origin.line != 0)
    return failure;
  auto exact = origin;
  exact.line = 1;
  std::vector<char> piece(reading_.block_bytes);
  for (std::uint64_t at = 0; at < origin.offset;) {
    const auto wanted = std::min<std::uint64_t>(piece.size(), origin.offset - at);
    const auto read = file_->read_at(at, {piece.data(), static_cast<std::size_t>(wanted)});
    if (!read || *read == 0)
      return failure;
    exact.line += static_cast<std::uint64_t>(
        std::count(piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(*read), '\n'));
    at += *read;
  }
  graph::batch_builder scratch(reading_.decoded);
  auto again = decoder_->decode(input, last, exact, input.size() + 1, block_, scratch);
  return again ? failure : std::move(again).error();
}

status file_reader::read_constants(const std::string& path) {
  const auto names = reading_.constants();
  if (names.empty())
    return {};
  std::vector<graph::logical_type::field> fields;
  for (const auto& each : names)
    if (const auto index = reading_.type->field_index(each); index >= 0)
      fields.push_back(reading_.type->fields()[static_cast<std::size_t>(index)]);
  graph::batch_builder row(std::make_shared<const graph::logical_type>(
      graph::logical_type::row(std::move(fields)).not_null()));
  HEADRACE_CHECK(append_partition(path, row));
  HEADRACE_CHECK(append_metadata(path, row));
  row.end_row();
  constants_ = row.finish();
  return {};
}

/// Into the first columns.
status file_reader::append_partition(const std::string& path, graph::batch_builder& row) const {
  if (reading_.partition_keys.empty())
    return {};
  const auto directory = path.substr(0, path.rfind('/'));
  const auto values =
      parse_partition(reading_.partition_keys, directory, reading_.missing_partition);
  if (!values)
    return error(errc::input_unreadable, "input is in no partition: " + path +
                                             ", its directories are to be named " +
                                             join_text(reading_.partition_keys, "=…/") + "=…");
  for (std::size_t i = 0; i < values->size(); ++i) {
    const auto place = row.type()->field_index(reading_.partition_keys[i]);
    if (place < 0)
      continue;
    auto& column = row.column(static_cast<std::size_t>(place));
    const auto& type = row.type()->child(static_cast<std::size_t>(place));
    const auto& value = (*values)[i];
    if (!value)
      column.append_null();
    else if (!scalar_reader(type).append(*value, false, column))
      return error(errc::input_unreadable,
                   "input is in a partition whose value is no " + type.to_sql() + ": " + path);
  }
  return {};
}

status file_reader::append_metadata(const std::string& path, graph::batch_builder& row) const {
  const auto column_of = [&](std::string_view key) -> graph::column_builder* {
    const auto place = row.type()->field_index(graph::metadata_field(key));
    return place < 0 ? nullptr : &row.column(static_cast<std::size_t>(place));
  };
  if (auto* to = column_of("file.path"))
    to->append_string(path);
  if (auto* to = column_of("file.name"))
    to->append_string(std::string_view(path).substr(path.rfind('/') + 1));
  auto* size = column_of("file.size");
  auto* modified = column_of("file.modification-time");
  if (size == nullptr && modified == nullptr)
    return {};
  const auto info = context_.files.stat(path);
  if (!info)
    return input_failure(path, info.error());
  if (size != nullptr)
    size->append(static_cast<std::int64_t>(info->size_bytes));
  if (modified != nullptr)
    modified->append(info->modified_ms);
  return {};
}

graph::record_batch file_reader::with_constants(graph::record_batch rows) const {
  if (reading_.partition_keys.empty() && reading_.metadata_fields.empty())
    return rows;
  const std::vector<std::uint32_t> first(rows.size(), 0U);
  std::vector<graph::column_ptr> columns;
  for (const auto& field : reading_.type->fields()) {
    const auto decoded = rows.type()->field_index(field.name);
    if (decoded >= 0) {
      columns.push_back(rows.column_at(static_cast<std::size_t>(decoded)));
      continue;
    }
    const auto place = constants_.type()->field_index(field.name);
    graph::column_builder constant(field.type);
    constant.append_from(constants_.at(static_cast<std::size_t>(place)), first);
    columns.push_back(constant.finish());
  }
  return rows.with_columns(reading_.type, std::move(columns));
}

graph::fetched file_reader::finish_fetch(graph::record_batch rows) {
  graph::fetched out;
  out.split_id = split_->id();
  out.rows = std::move(rows);
  if (!dead_letters_.is_empty())
    out.left_out = dead_letters_.finish();
  out.split_finished = is_exhausted();
  split_->next = split_->is_aligned ? offset() : split_->next;
  out.state_after = split_->encode();
  if (out.split_finished) {
    split_.reset();
    file_.reset();
    block_.reset();
    if (waiting_.empty())
      blocks_.clear();
  }
  return out;
}

} // namespace headrace::task
