#pragma once

#include "libgraph/expression/kernel/map.hpp"

#include <type_traits>

// Kernels of plain functions of one row's values: text_of<upper> is a factory.
//
//     bool upper(text_result& out, std::string_view text);      text_of
//     std::string_view left(std::string_view text, std::int32_t count);   view_of
//     std::optional<std::int32_t> ascii(std::string_view text); value_of: R or std::optional<R>
//
// Several functions are ways to call it, by their number of arguments.
namespace headrace::graph {

namespace detail {

template <class T>
constexpr bool is_stored_as(physical_type physical) {
  if constexpr (std::is_same_v<T, std::string_view>)
    return physical == physical_type::string;
  else if constexpr (std::is_same_v<T, std::uint8_t>)
    return physical == physical_type::boolean;
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return physical == physical_type::int32;
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return physical == physical_type::int64;
  else if constexpr (std::is_same_v<T, double>)
    return physical == physical_type::float64;
  else
    return physical == physical_type::int128 || physical == physical_type::timestamp_nanos;
}

template <class... Arguments>
bool takes(const kernel_request& request) {
  if (request.arguments.size() != sizeof...(Arguments))
    return false;
  [[maybe_unused]] std::size_t i = 0;
  return (is_stored_as<Arguments>(request.arguments[i++].physical()) && ...);
}

template <class T>
struct plain {
  using type = T;
};
template <class T>
struct plain<std::optional<T>> {
  using type = T;
};

template <class... A>
kernel text_kernel(const kernel_request& request, bool (*f)(text_result&, A...)) {
  if (!takes<A...>(request) || request.type.physical() != physical_type::string)
    return nullptr;
  return [f](kernel_frame& frame) { return map_text<A...>(frame, f); };
}
template <class... A>
kernel view_kernel(const kernel_request& request, std::string_view (*f)(A...)) {
  if (!takes<A...>(request) || request.type.physical() != physical_type::string)
    return nullptr;
  return [f](kernel_frame& frame) { return map_view<A...>(frame, f); };
}
template <class R, class... A>
kernel value_kernel(const kernel_request& request, R (*f)(A...)) {
  using stored = typename plain<R>::type;
  if (!takes<A...>(request) || !is_stored_as<stored>(request.type.physical()))
    return nullptr;
  return [f](kernel_frame& frame) { return map_rows<stored, A...>(frame, f); };
}

/// The first that is one.
inline result<kernel> first_of(const kernel_request& request, std::initializer_list<kernel> made) {
  for (const auto& each : made)
    if (each)
      return each;
  return unfit(request);
}

} // namespace detail

template <auto... Ways>
result<kernel> text_of(const kernel_request& request) {
  return detail::first_of(request, {detail::text_kernel(request, Ways)...});
}
template <auto... Ways>
result<kernel> view_of(const kernel_request& request) {
  return detail::first_of(request, {detail::view_kernel(request, Ways)...});
}
template <auto... Ways>
result<kernel> value_of(const kernel_request& request) {
  return detail::first_of(request, {detail::value_kernel(request, Ways)...});
}

} // namespace headrace::graph
