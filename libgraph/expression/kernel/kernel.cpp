#include "libgraph/expression/kernel/kernel.hpp"

#include "libgraph/expression/kernel/user_call.hpp"
#include "libactors/base/data_errc.hpp"

#include <algorithm>
#include <atomic>

namespace headrace::graph {
namespace {

std::vector<kernel_entry> all_kernels() {
  std::vector<kernel_entry> out;
  for (const auto family :
       {logic_kernels(),      compare_kernels(),     choice_kernels(),    arithmetic_kernels(),
        cast_kernels(),       math_kernels(),        text_part_kernels(), text_made_kernels(),
        text_code_kernels(),  text_format_kernels(), pattern_kernels(),   time_part_kernels(),
        time_text_kernels(),  now_kernels(),         array_kernels(),     collection_kernels(),
        chance_kernels(),     json_search_kernels(), json_text_kernels(), user_call_kernels(),
        constraint_kernels(), row_key_kernels()})
    out.insert(out.end(), family.begin(), family.end());
  std::sort(out.begin(), out.end(), [](const kernel_entry& left, const kernel_entry& right) {
    return left.function < right.function;
  });
  return out;
}

} // namespace

const kernel_entry* find_kernel(std::string_view function) {
  static const auto all = all_kernels();
  const auto found = std::lower_bound(
      all.begin(), all.end(), function,
      [](const kernel_entry& each, std::string_view wanted) { return each.function < wanted; });
  return found != all.end() && found->function == function ? &*found : nullptr;
}

std::shared_ptr<buffer> buffer_pool::allocate(std::size_t size_bytes) {
  if (size_bytes > kept_bytes_max)
    return buffer::allocate(size_bytes, budget_);
  for (const auto& each : kept_)
    if (each.use_count() == 1 && each->size_bytes() >= size_bytes &&
        each->size_bytes() <= 2 * size_bytes) {
      // What the last holder read was read before this.
      std::atomic_thread_fence(std::memory_order_acquire);
      return each;
    }
  auto made = buffer::allocate(size_bytes, budget_);
  if (kept_.size() < kept_max) {
    kept_.push_back(made);
  } else {
    kept_[next_] = made;
    next_ = (next_ + 1) % kept_max;
  }
  return made;
}

namespace {

/// What a function's refusal of a value is.
errc code_of(std::string_view function) {
  if (function == "CAST")
    return data_errc::cast_failed;
  for (const std::string_view divides : {"/", "%", "MOD"})
    if (function == divides)
      return data_errc::division_by_zero;
  return data_errc::value_refused;
}

} // namespace

void kernel_frame::fail(std::string_view what, std::string_view value) {
  if (failure)
    return;
  constexpr std::size_t shown_max = 100;
  std::string message(function);
  message += " failed: ";
  message += what;
  if (value.data() != nullptr) {
    message += ": '";
    message += value.substr(0, shown_max);
    message += value.size() > shown_max ? "…'" : "'";
  }
  failure = error(code_of(function), std::move(message));
}

} // namespace headrace::graph
