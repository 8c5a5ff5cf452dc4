#include "libstate/raw_state/raw_state.hpp"

#include "libstate/operator_state/element_reader.hpp"
#include "libstate/snapshot/block_codec.hpp"
#include "libstate/snapshot/snapshot_reader.hpp"
#include "libstate/snapshot/snapshot_writer.hpp"
#include "libgraph/function/failure.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace headrace::state {

namespace {

snapshot_header header_of(key_group_range groups, std::int32_t max_parallelism) {
  snapshot_header out;
  out.key_type =
      graph::logical_type::row({{"key_group", graph::logical_type::integer().not_null(), {}}})
          .not_null();
  out.max_parallelism = max_parallelism;
  out.groups = groups;
  state_description streams;
  streams.name = raw_state::keyed_name;
  streams.kind = table_kind::value;
  streams.value_type = graph::logical_type::bytes();
  streams.entry_key_type = graph::logical_type::null();
  out.states.push_back(std::move(streams));
  return out;
}

class stream_gatherer final : public snapshot_visitor {
public:
  explicit stream_gatherer(std::vector<graph::restored_raw_state::key_group>& into) : into_(into) {}
  void begin(std::int32_t group) { group_ = group; }
  status on_row(const snapshot_row& row) override {
    if (into_.empty() || into_.back().group != group_)
      into_.push_back({group_, {}});
    into_.back().bytes.append(row.value);
    return {};
  }

private:
  std::vector<graph::restored_raw_state::key_group>& into_;
  std::int32_t group_ = 0;
};

[[noreturn]] void refuse(std::string what) {
  throw graph::failure({errc::user_function_failed, std::move(what)});
}

} // namespace

void raw_snapshot::begin_key_group(std::int32_t group) {
  if (!groups_)
    throw graph::failure(
        {errc::invalid_graph, "raw keyed state of a function on a stream without key"});
  if (!groups_->contains(group))
    refuse("raw state for a key group of another subtask: " + std::to_string(group) +
           ", this one has " + std::to_string(groups_->first) + " to " +
           std::to_string(groups_->end - 1));
  const auto [made, is_new] = streams_.try_emplace(group);
  if (!is_new)
    refuse("raw state of a key group begun twice: " + std::to_string(group));
  current_ = &made->second;
}

void raw_snapshot::begin_partition() { current_ = &partitions_.emplace_back(); }

void raw_snapshot::write(byte_view bytes) {
  if (current_ == nullptr)
    refuse("raw state written before a key group or partition was begun");
  current_->append(bytes);
}

status raw_snapshot::run(snapshot_target& target, operator_subtask_state& into) const {
  HEADRACE_TRY(auto* const out, target.output());
  if (!streams_.empty()) {
    HEADRACE_TRY(auto handle, write_streams(*out));
    into.raw_keyed.push_back(std::move(handle));
  }
  if (!partitions_.empty()) {
    HEADRACE_TRY(auto handle, write_partitions(*out));
    into.raw_operator.push_back(std::move(handle));
  }
  return {};
}

result<keyed_state_handle> raw_snapshot::write_streams(state_output& out) const {
  snapshot_writer writer(out, header_of(*groups_, max_parallelism_));
  for (const auto& [group, stream] : streams_) {
    HEADRACE_CHECK(writer.begin_group(group));
    byte_string key;
    byte_writer(key).put(static_cast<std::uint64_t>(group));
    snapshot_row row;
    row.key = key;
    auto left = byte_view(stream);
    do { // a stream that was begun is there, though it be empty
      row.value = left.substr(0, raw_state::piece_bytes);
      left.remove_prefix(row.value.size());
      HEADRACE_CHECK(writer.add(row));
    } while (!left.empty());
  }
  HEADRACE_TRY(auto segment, writer.finish());
  return keyed_state_handle{*groups_, std::string(raw_state::format), std::move(segment), {}};
}

result<operator_state_handle> raw_snapshot::write_partitions(state_output& out) const {
  operator_state_handle handle;
  handle.segment.path = out.path();
  handle.segment.offset = out.position();
  auto& list = handle.lists.emplace_back();
  list.name = raw_state::operator_name;
  list.how = operator_state_handle::mode::split;
  for (const auto& partition : partitions_) {
    const auto begin = out.position() - handle.segment.offset;
    HEADRACE_CHECK(out.append(partition));
    list.elements.push_back({begin, begin + partition.size(), checksum_of(partition)});
  }
  handle.segment.size_bytes = out.position() - handle.segment.offset;
  return handle;
}

result<graph::restored_raw_state>
read_raw_state(file_system& files, const operator_subtask_state& from, key_group_range groups) {
  graph::restored_raw_state out;
  stream_gatherer gatherer(out.key_groups);
  for (const auto& handle : from.raw_keyed) {
    if (handle.format != raw_state::format)
      return error(errc::unsupported_snapshot_version,
                   "raw keyed state in an unknown form: " + handle.format + ", in " +
                       handle.segment.path);
    HEADRACE_TRY(const auto reader, snapshot_reader::open(files, handle.segment));
    const auto common = intersection(reader->header().groups, groups);
    for (auto group = common.first; group < common.end; ++group) {
      gatherer.begin(group);
      HEADRACE_CHECK(reader->read_group(group, gatherer));
    }
  }
  std::sort(out.key_groups.begin(), out.key_groups.end(),
            [](const auto& one, const auto& other) { return one.group < other.group; });
  for (const auto& handle : from.raw_operator) {
    element_reader reader(files, handle.segment);
    for (const auto& list : handle.lists) {
      HEADRACE_TRY(auto elements, reader.read(list.elements));
      std::move(elements.begin(), elements.end(), std::back_inserter(out.partitions));
    }
  }
  return out;
}

} // namespace headrace::state
