#pragma once

#include "libgraph/api/keyed_stream.hpp"
#include "libgraph/api/pairs_of_rows.hpp"
#include "libgraph/api/stream.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace headrace::api {

/// A row of either of two streams that have become one.
template <class First, class Second>
using tagged_row = std::pair<std::optional<First>, std::optional<Second>>;

/// The key of such a row.
template <class First, class Second, class F, class G>
struct tagged_key {
  using key_type = std::remove_cvref_t<std::invoke_result_t<F&, const First&>>;
  static_assert(
      std::is_same_v<key_type, std::remove_cvref_t<std::invoke_result_t<G&, const Second&>>>,
      "the keys of both streams are of one type");
  F of_first;
  G of_second;
  key_type operator()(const tagged_row<First, Second>& row) {
    return row.first ? std::invoke(of_first, *row.first) : std::invoke(of_second, *row.second);
  }
};

/// As a window function.
template <class Key, class First, class Second, class Way, class Out, class F>
struct apart_call {
  F function;
  void operator()(window_context<Key>&, const window_rows<tagged_row<First, Second>>& rows,
                  collector<Out>& out) {
    std::vector<First> first;
    std::vector<Second> second;
    for (const auto& row : rows) {
      if (row.first)
        first.push_back(*row.first);
      else
        second.push_back(*row.second);
    }
    Way::call(function, first, second, out);
  }
};

/// The windows of two streams by their keys. `Windowed` is a windowed stream of tagged rows.
template <class Key, class First, class Second, class Way, class Windowed>
class two_windowed_streams {
public:
  explicit two_windowed_streams(Windowed windowed) : windowed_(std::move(windowed)) {}

  // As those of windowed_stream; they are for rows of type tagged_row.
  template <class Trigger>
  auto trigger(Trigger trigger) const {
    return with(windowed_.trigger(std::move(trigger)));
  }
  template <class Evictor>
  auto evictor(Evictor evictor) const {
    return with(windowed_.evictor(std::move(evictor)));
  }
  auto allowed_lateness(std::chrono::milliseconds lateness) const {
    return with(windowed_.allowed_lateness(lateness));
  }
  /// See groups_of_rows and pairs_of_rows.
  template <class F>
  auto apply(F function) const {
    using out = typename Way::template output<First, Second, F>::type;
    return windowed_.process(apart_call<Key, First, Second, Way, out, F>{std::move(function)})
        .name(Way::name);
  }

private:
  template <class Other>
  static two_windowed_streams<Key, First, Second, Way, Other> with(Other windowed) {
    return two_windowed_streams<Key, First, Second, Way, Other>(std::move(windowed));
  }
  Windowed windowed_;
};

/// Two streams by their keys: made by `where(…).equal_to(…)`.
template <class Key, class First, class Second, class Way>
class two_keyed_streams {
public:
  using tagged = tagged_row<First, Second>;
  explicit two_keyed_streams(keyed_stream<Key, tagged> keyed) : keyed_(std::move(keyed)) {}
  /// Any windows that a keyed stream has.
  template <class Windows>
  auto window(Windows windows) const {
    auto windowed = keyed_.window(std::move(windows));
    return two_windowed_streams<Key, First, Second, Way, decltype(windowed)>(std::move(windowed));
  }

private:
  keyed_stream<Key, tagged> keyed_;
};

/// Two streams, of which the first has its key: made by `where(…)`.
template <class First, class Second, class Way, class F>
class one_keyed_stream {
public:
  one_keyed_stream(stream<First> first, stream<Second> second, F of_first)
      : first_(std::move(first)), second_(std::move(second)), of_first_(std::move(of_first)) {}
  template <class G>
  auto equal_to(G of_second) const {
    using tagged = tagged_row<First, Second>;
    using key = tagged_key<First, Second, F, G>;
    const auto left = first_.map([](const First& row) { return tagged(row, std::nullopt); });
    const auto right = second_.map([](const Second& row) { return tagged(std::nullopt, row); });
    auto keyed = left.union_with(right).key_by(key{of_first_, std::move(of_second)});
    return two_keyed_streams<typename key::key_type, First, Second, Way>(std::move(keyed));
  }

private:
  stream<First> first_;
  stream<Second> second_;
  F of_first_;
};

/// Two streams whose rows of one key and window meet: made by `stream::join` and
/// `stream::co_group`, to go on
///
///     first.join(second).where(&order::id).equal_to(&payment::order).window(…).apply(…)
template <class First, class Second, class Way>
class two_streams {
public:
  two_streams(stream<First> first, stream<Second> second)
      : first_(std::move(first)), second_(std::move(second)) {}
  /// A field, or a function of a row.
  template <class F>
  one_keyed_stream<First, Second, Way, F> where(F of_first) const {
    return {first_, second_, std::move(of_first)};
  }

private:
  stream<First> first_;
  stream<Second> second_;
};

template <class T>
template <class Other>
two_streams<T, Other, pairs_of_rows> stream<T>::join(const stream<Other>& other) const {
  return {*this, other};
}
template <class T>
template <class Other>
two_streams<T, Other, groups_of_rows> stream<T>::co_group(const stream<Other>& other) const {
  return {*this, other};
}

} // namespace headrace::api
