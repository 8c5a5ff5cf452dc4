#include "libtask/task/in_flight.hpp"

#include "libtask/network/partitioner.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace headrace::task {

namespace {

/// The inverse of mix64.
std::uint64_t unmix64(std::uint64_t x) {
  x ^= x >> 33U;
  x *= 0x9cb4b2f8129337dbULL;
  x ^= x >> 33U;
  x *= 0x4f74430c22a54005ULL;
  x ^= x >> 33U;
  return x;
}

/// An edge's id as it follows from the program: the dispatcher makes those of a job its own by
/// mixing the job's id in, and what is stored must be found by the job that runs on from it.
result_id edge_of(const result_id& own, const job_id& job) {
  return {unmix64(own.high) ^ job.high, unmix64(own.low) ^ job.low};
}

graph::row_type_ptr output_type(const task_description& task, std::size_t partition) {
  const auto& output = task.vertex.outputs[partition];
  const auto& from = task.vertex.operators[static_cast<std::size_t>(output.from)];
  return std::make_shared<const graph::logical_type>(
      output.side < 0 ? from.output_type : from.side_types[static_cast<std::size_t>(output.side)]);
}

graph::row_type_ptr input_type(const task_description& task, const channel_description& channel) {
  return std::make_shared<const graph::logical_type>(
      task.vertex.operators.front().input_types[static_cast<std::size_t>(channel.input)]);
}

error unplaced(const task_description& task, const state::channel_place& place, const char* why) {
  return {errc::incompatible_state,
          std::string("in-flight data of an unaligned checkpoint does not fit the job (") + why +
              "); start it from a savepoint: edge " + to_string(place.result) + ", from subtask " +
              std::to_string(place.producer) + " to " + std::to_string(place.consumer) + ", at " +
              task.display_name()};
}

bool is_alike(const graph::row_type_ptr& stored, const graph::row_type_ptr& wanted) {
  return *stored == *wanted;
}

/// The channel over which it came; after a change of the producers' parallelism another one.
result<std::size_t> find_channel(const task_description& task, const stored_in_flight& stored) {
  const auto& place = stored.content.place;
  const auto& all = task.channels();
  std::vector<std::size_t> of_edge;
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (edge_of(all[i].partition.result, task.job.id) != place.result)
      continue;
    of_edge.push_back(i);
    if (all[i].partition.producer.subtask == place.producer)
      found = i;
  }
  if (!found && stored.rescaled_from >= 0 && !of_edge.empty())
    found = of_edge[static_cast<std::size_t>(place.producer) % of_edge.size()];
  if (!found)
    return unplaced(task, place, "no such channel");
  if (!is_alike(stored.content.type, input_type(task, all[*found])))
    return unplaced(task, place, "other columns");
  return *found;
}

result<std::size_t> find_partition(const task_description& task, const stored_in_flight& stored) {
  const auto& place = stored.content.place;
  for (std::size_t i = 0; i < task.partitions.size(); ++i) {
    if (edge_of(task.partitions[i].partition.result, task.job.id) != place.result)
      continue;
    if (stored.rescaled_from < 0 && place.consumer >= task.partitions[i].subpartitions)
      return unplaced(task, place, "fewer consumers");
    if (!is_alike(stored.content.type, output_type(task, i)))
      return unplaced(task, place, "other columns");
    return i;
  }
  return unplaced(task, place, "no such result");
}

std::vector<graph::record_batch> batches_of(std::vector<graph::stream_element> elements) {
  std::vector<graph::record_batch> out;
  for (auto& element : elements)
    if (auto* rows = std::get_if<graph::record_batch>(&element))
      out.push_back(std::move(*rows));
  return out;
}

/// Whether not all are insertions.
bool has_changes(const graph::record_batch& rows) {
  const auto* kinds = rows.kinds();
  for (std::size_t i = 0; kinds != nullptr && i < rows.size(); ++i)
    if (kinds[rows.row_at(i)] != graph::row_kind::insert)
      return true;
  return false;
}

/// Finds what is this subtask's of what others had.
class rescaler {
public:
  rescaler(const task_description& task, in_flight_data& out) : task_(task), out_(out) {}

  status place_input(stored_in_flight stored) {
    HEADRACE_TRY(const auto channel, find_channel(task_, stored));
    const auto& place = stored.content.place;
    const auto& spec = task_.inputs->partitioners.at(task_.channels()[channel].partition.result);
    auto rows = batches_of(std::move(stored.content.elements));
    const bool is_by_key = spec.kind == graph::partitioner_kind::hash;
    HEADRACE_CHECK(check_dealable(rows, spec.kind, is_by_key, place));
    if (is_by_key) {
      HEADRACE_TRY(rows, own_rows(spec, rows));
    } else if (!is_own(stored)) {
      return {};
    }
    auto& into = out_.inputs[channel];
    into.insert(into.end(), std::make_move_iterator(rows.begin()),
                std::make_move_iterator(rows.end()));
    return {};
  }

  status place_output(stored_in_flight stored) {
    HEADRACE_TRY(const auto partition, find_partition(task_, stored));
    const auto kind = task_.vertex.outputs[partition].partitioner.kind;
    auto rows = batches_of(std::move(stored.content.elements));
    HEADRACE_CHECK(check_dealable(rows, kind, false, stored.content.place));
    if (is_own(stored))
      out_.rescaled_outputs.push_back({partition, std::move(rows)});
    return {};
  }

private:
  /// Refuses rows that all consumers get, each of which has taken others of them; and changes of
  /// rows, whose later ones come from another subtask and could overtake them.
  /// @param keeps_order  they are read where, and before, those that follow are
  status check_dealable(const std::vector<graph::record_batch>& rows, graph::partitioner_kind kind,
                        bool keeps_order, const state::channel_place& place) const {
    if (rows.empty())
      return {};
    if (kind == graph::partitioner_kind::broadcast)
      return unplaced(task_, place, "broadcast rows at another parallelism");
    if (!keeps_order && std::any_of(rows.begin(), rows.end(), has_changes))
      return unplaced(task_, place, "changes of rows at another parallelism, out of order");
    return {};
  }
  bool is_own(const stored_in_flight& stored) const {
    return stored.rescaled_from % task_.vertex.parallelism == task_.attempt.subtask;
  }
  /// The rows whose key groups are this subtask's.
  result<std::vector<graph::record_batch>>
  own_rows(const graph::partitioner_spec& spec, const std::vector<graph::record_batch>& all) const {
    partitioner_setup setup;
    setup.spec = spec;
    setup.targets = static_cast<std::uint32_t>(task_.vertex.parallelism);
    setup.max_parallelism = static_cast<std::uint32_t>(task_.vertex.max_parallelism);
    HEADRACE_TRY(const auto split, make_partitioner(std::move(setup)));
    std::vector<graph::record_batch> out;
    std::vector<target_piece> pieces;
    for (const auto& rows : all) {
      pieces.clear();
      split->split(rows, pieces);
      for (auto& piece : pieces)
        if (static_cast<std::int32_t>(piece.target) == task_.attempt.subtask)
          out.push_back(std::move(piece.rows));
    }
    return out;
  }

  const task_description& task_;
  in_flight_data& out_;
};

} // namespace

std::vector<state::channel_content> describe_in_flight(const task_description& task,
                                                       in_flight_data in_flight) {
  std::vector<state::channel_content> out;
  for (auto& [index, elements] : in_flight.inputs) {
    const auto& channel = task.channels()[index];
    out.push_back({{edge_of(channel.partition.result, task.job.id), false,
                    channel.partition.producer.subtask, task.attempt.subtask},
                   input_type(task, channel),
                   std::move(elements)});
  }
  for (auto& one : in_flight.outputs)
    out.push_back({{edge_of(task.partitions[one.partition].partition.result, task.job.id), true,
                    task.attempt.subtask, static_cast<std::int32_t>(one.elements.subpartition)},
                   output_type(task, one.partition),
                   std::move(one.elements.elements)});
  return out;
}

result<in_flight_data> place_in_flight(const task_description& task,
                                       std::vector<stored_in_flight> stored) {
  in_flight_data out;
  rescaler others(task, out);
  for (auto& one : stored) {
    const bool is_input = !one.content.place.at_producer;
    if (one.rescaled_from >= 0) {
      HEADRACE_CHECK(is_input ? others.place_input(std::move(one))
                              : others.place_output(std::move(one)));
      continue;
    }
    if (is_input) {
      HEADRACE_TRY(const auto channel, find_channel(task, one));
      out.inputs[channel] = std::move(one.content.elements);
      continue;
    }
    HEADRACE_TRY(const auto partition, find_partition(task, one));
    out.outputs.push_back({partition,
                           {static_cast<std::uint32_t>(one.content.place.consumer),
                            std::move(one.content.elements)}});
  }
  return out;
}

result<std::vector<stored_in_flight>> read_in_flight(file_system& files,
                                                     const state::task_state_snapshot& from) {
  std::vector<stored_in_flight> out;
  for (const auto& [id, stored] : from.operators) {
    for (const auto& handle : stored.channels) {
      HEADRACE_TRY(auto reader, state::channel_state_reader::open(files, handle.segment));
      for (std::size_t i = 0; i < reader.size(); ++i) {
        HEADRACE_TRY(auto elements, reader.read(i));
        out.push_back(
            {{reader.place(i), reader.type(i), std::move(elements)}, handle.rescaled_from});
      }
    }
  }
  return out;
}

} // namespace headrace::task
