#include "libtask/connector/file/part_file.hpp"

#include "libgraph/types/value_text.hpp"

#include <algorithm>
#include <utility>

namespace headrace::task {
namespace {

constexpr std::uint8_t version = 1;
constexpr std::string_view prefix = "part-";
constexpr std::string_view in_progress = ".inprogress.";
constexpr std::string_view prepared = ".prepared.";

std::string eight_hex(std::uint64_t value) { return to_hex(value, 0).substr(0, 8); }

std::string mark_of(const job_id& job, const operator_id& sink) {
  return eight_hex(mix64(job.high ^ mix64(job.low)) ^ mix64(sink.high ^ mix64(sink.low) ^ 1U)) +
         "-";
}

/// Reads what follows the version; wraps what is wrong.
template <class T, class Read>
result<T> decode_versioned(const char* what, byte_view bytes, Read read) {
  byte_reader in(bytes);
  const auto found = in.get<std::uint8_t>();
  if (found && *found != version)
    return error(errc::unsupported_snapshot_version,
                 std::string(what) + " has an unknown version: " + std::to_string(*found) +
                     ", this release reads " + std::to_string(version));
  T out;
  auto outcome = found ? read(in, out) : status(found.error());
  if (outcome && !in.at_end())
    outcome = error(errc::malformed_message, "bytes left over");
  if (!outcome)
    return error(errc::corrupt_snapshot, std::string(what) + " is corrupt",
                 std::move(outcome).error());
  return out;
}

} // namespace

graph::committable pending_part::encode() const {
  byte_string out;
  byte_writer writer(out);
  writer.put(version);
  writer.put_bytes(hidden_path);
  writer.put_bytes(final_path);
  writer.put_varint(size_bytes);
  return out;
}

result<pending_part> pending_part::decode(byte_view bytes) {
  return decode_versioned<pending_part>("committable of a file sink", bytes,
                                        [](byte_reader& in, pending_part& out) -> status {
                                          HEADRACE_TRY(const auto hidden, in.get_bytes());
                                          HEADRACE_TRY(const auto final_path, in.get_bytes());
                                          HEADRACE_TRY(out.size_bytes, in.get_varint());
                                          out.hidden_path = hidden;
                                          out.final_path = final_path;
                                          return {};
                                        });
}

byte_string file_writer_state::encode() const {
  byte_string out;
  byte_writer writer(out);
  writer.put(version);
  writer.put(subtask);
  writer.put_varint(next_number);
  return out;
}

result<file_writer_state> file_writer_state::decode(byte_view bytes) {
  return decode_versioned<file_writer_state>("state of a file sink", bytes,
                                             [](byte_reader& in, file_writer_state& out) -> status {
                                               HEADRACE_TRY(out.subtask, in.get<std::int32_t>());
                                               HEADRACE_TRY(out.next_number, in.get_varint());
                                               return {};
                                             });
}

part_names::part_names(const graph::writer_context& context) : of_one_job_(!context.job.is_none()) {
  if (!context.job.is_none() || !context.operator_.is_none())
    mark_ = mark_of(context.job, context.operator_);
  for (const auto& each : context.former_jobs)
    former_marks_.push_back(mark_of(each, context.operator_));
  attempt_ = std::to_string(context.attempt) + "-" +
             eight_hex(mix64(static_cast<std::uint64_t>(context.time.wall_ms())) ^
                       mix64(static_cast<std::uint64_t>(context.time.now_us()) + 1));
}

std::string part_names::final_name(std::int32_t subtask, std::uint64_t number) const {
  return std::string(prefix) + mark_ + std::to_string(subtask) + "-" + std::to_string(number);
}

std::string part_names::hidden_name(std::int32_t subtask, std::uint64_t number) const {
  return "." + final_name(subtask, number) + std::string(in_progress) + attempt_;
}

std::string part_names::prepared_name(std::int32_t subtask, std::uint64_t number) const {
  return "." + final_name(subtask, number) + std::string(prepared) + attempt_;
}

bool part_names::is_own(std::string_view name) const {
  return parse(name, mark_) ||
         std::any_of(former_marks_.begin(), former_marks_.end(),
                     [&](const std::string& each) { return parse(name, each).has_value(); });
}

std::optional<part_names::parsed> part_names::parse(std::string_view name, std::string_view mark) {
  parsed out;
  if (name.starts_with('.')) {
    out.is_hidden = true;
    name.remove_prefix(1);
    auto end = name.find(in_progress);
    if (end == std::string_view::npos) {
      end = name.find(prepared);
      out.is_prepared = true;
    }
    if (end == std::string_view::npos)
      return std::nullopt;
    name = name.substr(0, end);
  }
  if (!name.starts_with(prefix) || !name.substr(prefix.size()).starts_with(mark))
    return std::nullopt;
  name.remove_prefix(prefix.size() + mark.size());
  const auto dash = name.find('-');
  if (dash == std::string_view::npos)
    return std::nullopt;
  const auto subtask = graph::parse_integer<std::int32_t>(name.substr(0, dash));
  const auto number = graph::parse_integer<std::uint64_t>(name.substr(dash + 1));
  if (!subtask || !number || *subtask < 0)
    return std::nullopt;
  out.subtask = *subtask;
  out.number = *number;
  return out;
}

} // namespace headrace::task
