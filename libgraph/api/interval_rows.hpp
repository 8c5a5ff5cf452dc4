#pragma once

#include "libgraph/api/process_function.hpp"
#include "libgraph/api/state_handle.hpp"

#include <cstdint>
#include <string>
#include <utility>

namespace headrace::api {

/// The rows of one side by key, in buckets of their event time.
template <class T>
class interval_rows {
public:
  void open(open_context& context, const std::string& name, std::int64_t width_ms) {
    rows_ = context.map<place, std::pair<std::int64_t, T>>(name);
    sizes_ = context.map<std::int64_t, std::int64_t>(name + "-sizes");
    width_ms_ = width_ms;
  }
  /// @returns when the bucket that it is in is over
  std::int64_t add(const T& row, std::int64_t time_ms) {
    const auto bucket = bucket_of(time_ms);
    const auto size = sizes_.get(bucket).value_or(0);
    rows_.put({bucket, size}, {time_ms, row});
    sizes_.put(bucket, size + 1);
    return (bucket + 1) * width_ms_;
  }
  /// Calls `visit(row, time_ms)` for rows of [first_ms, last_ms].
  template <class Visit>
  void visit(std::int64_t first_ms, std::int64_t last_ms, Visit&& visit) const {
    for (auto bucket = bucket_of(first_ms); bucket <= bucket_of(last_ms); ++bucket) {
      const auto size = sizes_.get(bucket).value_or(0);
      for (std::int64_t i = 0; i < size; ++i) {
        const auto held = rows_.get({bucket, i});
        if (held && held->first >= first_ms && held->first <= last_ms)
          visit(held->second, held->first);
      }
    }
  }
  /// Drops the bucket that is over at a time, if one is.
  void drop(std::int64_t end_ms) {
    const auto bucket = bucket_of(end_ms) - 1;
    if ((bucket + 1) * width_ms_ != end_ms)
      return;
    const auto size = sizes_.get(bucket).value_or(0);
    for (std::int64_t i = 0; i < size; ++i)
      rows_.remove({bucket, i});
    if (size > 0)
      sizes_.remove(bucket);
  }

private:
  using place = std::pair<std::int64_t, std::int64_t>; ///< bucket, and number in it
  std::int64_t bucket_of(std::int64_t time_ms) const {
    return time_ms / width_ms_ - (time_ms % width_ms_ < 0 ? 1 : 0);
  }

  map_state<place, std::pair<std::int64_t, T>> rows_;
  map_state<std::int64_t, std::int64_t> sizes_;
  std::int64_t width_ms_ = 1;
};

} // namespace headrace::api
