#include "libscheduler/execution_graph/distribution.hpp"

namespace headrace::scheduler {

namespace {

/// `index * count / of`, without overflow.
std::int32_t scaled(std::int32_t index, std::int32_t count, std::int32_t of) {
  return static_cast<std::int32_t>(static_cast<std::int64_t>(index) * count / of);
}
std::int32_t scaled_up(std::int32_t index, std::int32_t count, std::int32_t of) {
  return static_cast<std::int32_t>((static_cast<std::int64_t>(index) * count + of - 1) / of);
}

} // namespace

distribution_pattern pattern_of(graph::partitioner_kind partitioner) {
  return partitioner == graph::partitioner_kind::forward ||
                 partitioner == graph::partitioner_kind::rescale
             ? distribution_pattern::pointwise
             : distribution_pattern::all_to_all;
}

subtask_range distribution::producers_of(std::int32_t consumer) const {
  if (pattern == distribution_pattern::all_to_all)
    return {0, producers};
  if (producers >= consumers)
    return {scaled(consumer, producers, consumers), scaled(consumer + 1, producers, consumers)};
  const std::int32_t producer = scaled(consumer, producers, consumers);
  return {producer, producer + 1};
}

subtask_range distribution::consumers_of(std::int32_t producer) const {
  if (pattern == distribution_pattern::all_to_all)
    return {0, consumers};
  if (producers < consumers)
    return {scaled_up(producer, consumers, producers),
            scaled_up(producer + 1, consumers, producers)};
  // The consumer c with scaled(c) <= producer < scaled(c + 1).
  std::int32_t consumer = scaled(producer, consumers, producers);
  while (producers_of(consumer).last <= producer)
    ++consumer;
  return {consumer, consumer + 1};
}

std::int32_t distribution::subpartition_of(std::int32_t consumer) const {
  if (pattern == distribution_pattern::all_to_all)
    return consumer;
  if (producers >= consumers)
    return 0;
  return consumer - consumers_of(producers_of(consumer).first).first;
}

} // namespace headrace::scheduler
