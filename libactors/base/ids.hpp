#pragma once

#include "libactors/base/result.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace headrace {

/// 128 bits that name one thing. `Tag` keeps the kinds apart. A value; all zero means "none".
template <class Tag>
struct id128 {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  bool is_none() const { return high == 0 && low == 0; }
  friend auto operator<=>(const id128&, const id128&) = default;
};

/// Writes 32 lower-case hex digits, as Flink does.
std::string to_hex(std::uint64_t high, std::uint64_t low);
/// Reads 32 hex digits. @errors bad_usage  another length or another letter
result<std::pair<std::uint64_t, std::uint64_t>> from_hex(std::string_view text);

template <class Tag>
std::string to_string(const id128<Tag>& id) {
  return to_hex(id.high, id.low);
}
template <class Tag>
result<id128<Tag>> parse_id(std::string_view text) {
  HEADRACE_TRY(auto words, from_hex(text));
  return id128<Tag>{words.first, words.second};
}

using job_id = id128<struct job_tag>;
using operator_id = id128<struct operator_tag>;
using vertex_id = id128<struct vertex_tag>;
using allocation_id = id128<struct allocation_tag>;
using task_executor_id = id128<struct task_executor_tag>;
using node_id = id128<struct node_tag>;
using fencing_token = id128<struct fencing_tag>;
/// An intermediate result of a job vertex (its n-th output).
using result_id = id128<struct result_tag>;
/// SHA-256 is cut to its first 128 bits nowhere: an artifact is named by all 64 hex digits.
using artifact_digest = std::string;

/// Rises by one a checkpoint within a job; the first is 1.
using checkpoint_id = std::int64_t;

/// Names one attempt to run one subtask.
struct execution_attempt_id {
  vertex_id vertex;
  std::int32_t subtask = 0;
  std::int32_t attempt = 0;
  std::int32_t generation = 0; ///< of the job: rises by one each time that it is recovered
  friend auto operator<=>(const execution_attempt_id&, const execution_attempt_id&) = default;
};
/// E.g. "<vertex>_<subtask>_<attempt>"; of a recovered job
/// "<vertex>_<subtask>_<generation>.<attempt>".
std::string to_string(const execution_attempt_id& id);

/// Names one partition of an intermediate result: what one attempt of a producer writes.
struct partition_id {
  result_id result;
  execution_attempt_id producer;
  friend auto operator<=>(const partition_id&, const partition_id&) = default;
};
std::string to_string(const partition_id& id);

/// Mixes 64 bits (the finalizer of MurmurHash3, public domain). A fixed function: the same in every
/// process, for ever.
inline std::uint64_t mix64(std::uint64_t x) {
  x ^= x >> 33U;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33U;
  x *= 0xc4ceb9fe1a85ec53ULL;
  x ^= x >> 33U;
  return x;
}

} // namespace headrace

template <class Tag>
struct std::hash<headrace::id128<Tag>> {
  std::size_t operator()(const headrace::id128<Tag>& id) const noexcept {
    return headrace::mix64(id.high ^ headrace::mix64(id.low));
  }
};
template <>
struct std::hash<headrace::execution_attempt_id> {
  std::size_t operator()(const headrace::execution_attempt_id& id) const noexcept {
    return headrace::mix64(
        std::hash<headrace::vertex_id>{}(id.vertex) ^
        (static_cast<std::uint64_t>(static_cast<std::uint32_t>(id.subtask)) << 32U |
         static_cast<std::uint32_t>(id.attempt)) ^
        static_cast<std::uint64_t>(static_cast<std::uint32_t>(id.generation)) << 16U);
  }
};
template <>
struct std::hash<headrace::partition_id> {
  std::size_t operator()(const headrace::partition_id& id) const noexcept {
    return headrace::mix64(std::hash<headrace::result_id>{}(id.result) ^
                           std::hash<headrace::execution_attempt_id>{}(id.producer));
  }
};
