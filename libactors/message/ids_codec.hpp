#pragma once

#include "libactors/base/error.hpp"
#include "libactors/base/ids.hpp"
#include "schema/error.capnp.h"
#include "schema/ids.capnp.h"

#include <algorithm>
#include <cstddef>

namespace headrace {

// Ids and errors as they stand in messages. `write` fills a builder; `read…` copies out of a
// reader.

/// How deep causes are followed, and how many of them side by side.
struct error_codec_limits {
  static constexpr int depth = 16;
  static constexpr std::size_t causes = 16;
};

template <class Tag>
void write(schema::Id128::Builder out, const id128<Tag>& id) {
  out.setHigh(id.high);
  out.setLow(id.low);
}
template <class Id>
Id read_id(schema::Id128::Reader in) {
  return Id{in.getHigh(), in.getLow()};
}

inline void write(schema::ExecutionAttempt::Builder out, const execution_attempt_id& id) {
  write(out.initVertex(), id.vertex);
  out.setSubtask(id.subtask);
  out.setAttempt(id.attempt);
  out.setGeneration(id.generation);
}
inline execution_attempt_id read_attempt(schema::ExecutionAttempt::Reader in) {
  return {read_id<vertex_id>(in.getVertex()), in.getSubtask(), in.getAttempt(), in.getGeneration()};
}

inline void write(schema::Partition::Builder out, const partition_id& id) {
  write(out.initResult(), id.result);
  write(out.initProducer(), id.producer);
}
inline partition_id read_partition(schema::Partition::Reader in) {
  return {read_id<result_id>(in.getResult()), read_attempt(in.getProducer())};
}

inline void write(schema::Error::Builder out, const error& failure,
                  int depth_left = error_codec_limits::depth) {
  out.setCode(static_cast<std::uint16_t>(failure.code));
  out.setMessage(failure.message);
  if (depth_left == 0 || failure.causes.empty())
    return;
  const auto count = std::min(failure.causes.size(), error_codec_limits::causes);
  auto causes = out.initCauses(static_cast<unsigned>(count));
  for (std::size_t i = 0; i < count; ++i)
    write(causes[static_cast<unsigned>(i)], failure.causes[i], depth_left - 1);
}
inline error read_error(schema::Error::Reader in, int depth_left = error_codec_limits::depth) {
  error failure(static_cast<errc>(in.getCode()), in.getMessage().cStr());
  if (depth_left == 0)
    return failure;
  for (auto cause : in.getCauses()) {
    if (failure.causes.size() == error_codec_limits::causes)
      break;
    failure.causes.push_back(read_error(cause, depth_left - 1));
  }
  return failure;
}

} // namespace headrace
