#include "libtask/operator/given_watermark.hpp"

#include "libactors/base/bytes.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace headrace::task {

status given_watermark::open(state::operator_state_backend& states, std::int32_t subtask,
                             std::int32_t parallelism) {
  subtask_ = subtask;
  HEADRACE_TRY(stored_, states.union_list("watermark"));
  const auto& elements = stored_->elements();
  std::optional<std::int64_t> own;
  std::optional<std::int64_t> least;
  for (const auto& element : elements) {
    byte_reader in(element);
    HEADRACE_TRY(const auto of, in.get<std::int32_t>());
    HEADRACE_TRY(const auto given_ms, in.get<std::int64_t>());
    if (of == subtask)
      own = given_ms;
    least = least ? std::min(*least, given_ms) : given_ms;
  }
  if (elements.size() != static_cast<std::size_t>(parallelism))
    own.reset();
  restored_ms_ = own ? *own : least.value_or(graph::watermark::none);
  store(restored_ms_);
  return {};
}

void given_watermark::store(std::int64_t given_ms) {
  byte_string element;
  byte_writer out(element);
  out.put(subtask_);
  out.put(given_ms);
  std::vector<byte_string> elements;
  elements.push_back(std::move(element));
  stored_->replace(std::move(elements));
}

} // namespace headrace::task
