#pragma once

#include "libgraph/api/generator.hpp"

#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace headrace::api {

template <class Out>
class collector;

/// The parameters of a function pointer, or of a class with one operator() that is no template.
template <class F>
struct call_traits {
  static constexpr bool is_known = false;
};
template <class R, class... A>
struct call_traits<R (*)(A...)> {
  static constexpr bool is_known = true;
  static constexpr std::size_t size = sizeof...(A);
  template <std::size_t I>
  using parameter = std::tuple_element_t<I, std::tuple<A...>>;
};
template <class R, class... A>
struct call_traits<R (*)(A...) noexcept> : call_traits<R (*)(A...)> {};
template <class M>
struct method_traits;
template <class R, class C, class... A>
struct method_traits<R (C::*)(A...)> : call_traits<R (*)(A...)> {};
template <class R, class C, class... A>
struct method_traits<R (C::*)(A...) const> : call_traits<R (*)(A...)> {};
template <class R, class C, class... A>
struct method_traits<R (C::*)(A...) noexcept> : call_traits<R (*)(A...)> {};
template <class R, class C, class... A>
struct method_traits<R (C::*)(A...) const noexcept> : call_traits<R (*)(A...)> {};
template <class F>
  requires requires { &F::operator(); }
struct call_traits<F> : method_traits<decltype(&F::operator())> {};

/// The type in which rows are read for a function: the stream's, but std::string_view where the
/// stream has std::string and the function asks for a view: then nothing is copied.
template <class F, class In>
struct argument_of {
  using type = In;
};
template <class F>
  requires(call_traits<F>::is_known)
struct argument_of<F, std::string> {
  using type = std::conditional_t<
      std::is_same_v<std::remove_cvref_t<typename call_traits<F>::template parameter<0>>,
                     std::string_view>,
      std::string_view, std::string>;
};
template <class F, class In>
using argument_t = typename argument_of<F, In>::type;

/// The Out of a parameter `collector<Out>&`.
template <class Parameter>
struct collected;
template <class Out>
struct collected<collector<Out>&> {
  using type = Out;
};
/// The Out of a result `generator<Out>`.
template <class Result>
struct generated {
  static constexpr bool exists = false;
};
template <class Out>
struct generated<generator<Out>> {
  static constexpr bool exists = true;
  using type = Out;
};

} // namespace headrace::api
