#pragma once

#include "libgraph/api/collector.hpp"
#include "libgraph/api/function_traits.hpp"

#include <type_traits>
#include <vector>

namespace headrace::api {

// What functions make of rows of two streams that have met.

/// `void function(const std::vector<First>&, const std::vector<Second>&, collector<Out>&)`, also
/// for windows that have rows of one stream only.
struct groups_of_rows {
  static constexpr const char* name = "window co_group";
  template <class First, class Second, class F>
  struct output {
    using type = typename collected<typename call_traits<F>::template parameter<2>>::type;
  };
  template <class First, class Second, class Out, class F>
  static void call(F& function, const std::vector<First>& first, const std::vector<Second>& second,
                   collector<Out>& out) {
    function(first, second, out);
  }
};

/// For each pair of rows `Out function(const First&, const Second&)`, or
/// `void function(const First&, const Second&, collector<Out>&)`.
struct pairs_of_rows {
  static constexpr const char* name = "window join";
  template <class First, class Second, class F>
  struct output {
    using type = std::remove_cvref_t<std::invoke_result_t<F&, const First&, const Second&>>;
  };
  template <class First, class Second, class F>
    requires(call_traits<F>::is_known&& call_traits<F>::size == 3)
  struct output<First, Second, F> : groups_of_rows::output<First, Second, F> {};

  template <class First, class Second, class Out, class F>
  static void call(F& function, const std::vector<First>& first, const std::vector<Second>& second,
                   collector<Out>& out) {
    for (const auto& left : first) {
      for (const auto& right : second) {
        if constexpr (std::is_invocable_v<F&, const First&, const Second&, collector<Out>&>)
          function(left, right, out);
        else
          out.emit(function(left, right));
      }
    }
  }
};

} // namespace headrace::api
