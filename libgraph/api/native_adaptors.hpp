#pragma once

#include "libgraph/api/aggregate_function.hpp"
#include "libgraph/api/collector.hpp"
#include "libgraph/api/function_traits.hpp"
#include "libgraph/api/type_info.hpp"
#include "libgraph/function/failure.hpp"
#include "libgraph/user_function/native_function.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace headrace::api {

template <class T>
inline constexpr bool takes_null = false;
template <class T>
inline constexpr bool takes_null<std::optional<T>> = true;

/// The values of one argument for the rows of a call.
template <class T>
class argument_column {
public:
  argument_column(const graph::user_argument& of, graph::user_rows rows)
      : of_(of), rows_(rows), read_(*of.values) {}

  std::size_t size() const { return rows_.count; }
  T operator[](std::size_t index) const { return read_(of_.at(rows_.at(index))); }

  /// Numbers, one behind the other. Valid until the function returns.
  std::span<const T> values() const requires(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
    if (rows_.rows == nullptr && !of_.is_constant)
      return {of_.values->template values<T>(), rows_.count};
    gathered_.resize(rows_.count);
    for (std::size_t i = 0; i < rows_.count; ++i)
      gathered_[i] = (*this)[i];
    return gathered_;
  }

private:
  graph::user_argument of_;
  graph::user_rows rows_;
  typename info_of<T>::reader read_;
  mutable std::vector<std::conditional_t<std::is_same_v<T, bool>, char, T>> gathered_;
};

/// Takes the values of a call, one a row, in the order of the rows.
template <class T>
class result_column {
public:
  explicit result_column(graph::column_builder& out) : out_(&out) {}
  void append(const T& value) { info_of<T>::append(*out_, value); }

private:
  graph::column_builder* out_;
};

/// An argument that is read row by row.
template <class T>
class argument_reader {
public:
  explicit argument_reader(const graph::user_argument& of) : of_(of), read_(*of.values) {}
  T operator()(std::size_t row) const { return read_(of_.at(row)); }
  /// Whether the function is not to be called.
  bool is_missing(std::size_t row) const {
    return !takes_null<T> && of_.values->is_null(of_.at(row));
  }

private:
  graph::user_argument of_;
  typename info_of<T>::reader read_;
};

/// The arguments of a call, as the function's parameters are.
template <class... T>
class argument_readers {
public:
  explicit argument_readers(graph::user_arguments of)
      : readers_(make(of, std::index_sequence_for<T...>())) {}
  bool is_missing(std::size_t row) const {
    return std::apply([&](const auto&... each) { return (each.is_missing(row) || ...); }, readers_);
  }
  template <class Body>
  decltype(auto) call(std::size_t row, Body&& body) const {
    return std::apply([&](const auto&... each) -> decltype(auto) { return body(each(row)...); },
                      readers_);
  }

private:
  using readers = std::tuple<argument_reader<T>...>;
  template <std::size_t... I>
  static readers make([[maybe_unused]] graph::user_arguments of, std::index_sequence<I...>) {
    return readers(argument_reader<T>(of[I])...);
  }
  readers readers_;
};

template <class... T>
std::vector<graph::logical_type> parameter_types() {
  return {info_of<T>::type().nullable()...};
}

// ---- values ---------------------------------------------------------------------------------

template <class F, class R, class... T>
class native_scalar_rows final : public graph::user_scalar {
public:
  explicit native_scalar_rows(F function) : function_(std::move(function)) {}
  status compute(graph::user_arguments arguments, graph::user_rows rows,
                 graph::column_builder& out) override {
    const argument_readers<T...> read(arguments);
    for (std::size_t i = 0; i < rows.count; ++i) {
      const auto row = rows.at(i);
      if (read.is_missing(row))
        out.append_null();
      else
        info_of<R>::append(out, read.call(row, function_));
    }
    return {};
  }

private:
  F function_;
};

template <class F, class R, class... T>
class native_scalar_columns final : public graph::user_scalar {
public:
  explicit native_scalar_columns(F function) : function_(std::move(function)) {}
  status compute(graph::user_arguments arguments, graph::user_rows rows,
                 graph::column_builder& out) override {
    called_.clear();
    const argument_readers<T...> read(arguments);
    for (std::size_t i = 0; i < rows.count; ++i)
      if (!read.is_missing(rows.at(i)))
        called_.push_back(rows.at(i));
    if (called_.size() == rows.count)
      return call(arguments, rows, out);
    graph::column_builder made(out.type());
    if (!called_.empty())
      HEADRACE_CHECK(call(arguments, {called_.data(), called_.size()}, made));
    const auto values = made.finish();
    std::size_t next = 0;
    for (std::size_t i = 0; i < rows.count; ++i) {
      if (next < called_.size() && called_[next] == rows.at(i))
        out.append_from(*values, next++);
      else
        out.append_null();
    }
    return {};
  }

private:
  status call(graph::user_arguments arguments, graph::user_rows rows, graph::column_builder& out) {
    const auto before = out.size();
    result_column<R> results(out);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      function_(argument_column<T>(arguments[I], rows)..., results);
    }
    (std::index_sequence_for<T...>());
    if (out.size() - before == rows.count)
      return {};
    return error(errc::user_function_failed,
                 "a function gave " + std::to_string(out.size() - before) + " values for " +
                     std::to_string(rows.count) + " rows");
  }

  F function_;
  std::vector<std::uint32_t> called_;
};

/// Parameters and result of what a library offers, taken apart.
template <class F>
struct native_signature : native_signature<decltype(&F::operator())> {};
template <class R, class... A>
struct native_signature<R (*)(A...)> {
  using given = R;
  using parameter_list = std::tuple<A...>;
};
template <class R, class... A>
struct native_signature<R (*)(A...) noexcept> : native_signature<R (*)(A...)> {};
template <class R, class C, class... A>
struct native_signature<R (C::*)(A...)> : native_signature<R (*)(A...)> {};
template <class R, class C, class... A>
struct native_signature<R (C::*)(A...) const> : native_signature<R (*)(A...)> {};
template <class R, class C, class... A>
struct native_signature<R (C::*)(A...) noexcept> : native_signature<R (*)(A...)> {};
template <class R, class C, class... A>
struct native_signature<R (C::*)(A...) const noexcept> : native_signature<R (*)(A...)> {};

/// The R of a parameter `result_column<R>&`.
template <class Parameter>
struct column_result {
  static constexpr bool exists = false;
};
template <class R>
struct column_result<result_column<R>&> {
  static constexpr bool exists = true;
  using type = R;
};
/// The T of a parameter `const argument_column<T>&`.
template <class Parameter>
struct column_argument;
template <class T>
struct column_argument<argument_column<T>> {
  using type = T;
};

template <class Parameters>
struct last_parameter {
  using type = void;
};
template <class... A>
  requires(sizeof...(A) > 0)
struct last_parameter<std::tuple<A...>> {
  using type = std::tuple_element_t<sizeof...(A) - 1, std::tuple<A...>>;
};
template <class Parameters>
using last_parameter_t = typename last_parameter<Parameters>::type;

/// Calls `body.operator()<T…>()` with the values of the parameters, without the first `Skipped` and
/// the last `Dropped` of them.
template <class Parameters, std::size_t Skipped, std::size_t Dropped, class Body>
auto with_parameters(Body&& body) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return body.template
    operator()<std::remove_cvref_t<std::tuple_element_t<Skipped + I, Parameters>>...>();
  }
  (std::make_index_sequence<std::tuple_size_v<Parameters> - Skipped - Dropped>());
}

template <class R, class... T>
graph::native_function scalar_of(std::function<std::unique_ptr<graph::user_scalar>()> make) {
  graph::native_function out;
  out.form = graph::user_form::scalar;
  out.parameters = parameter_types<T...>();
  out.result = (takes_null<T> && ...) ? info_of<R>::type() : info_of<R>::type().nullable();
  out.make_scalar = std::move(make);
  return out;
}

template <class F>
graph::native_function make_scalar_function(F function) {
  using signature = native_signature<F>;
  using parameter_list = typename signature::parameter_list;
  using last = column_result<last_parameter_t<parameter_list>>;
  if constexpr (last::exists) {
    return with_parameters<parameter_list, 0, 1>([&]<class... A>() {
      using given = typename last::type;
      using made = native_scalar_columns<F, given, typename column_argument<A>::type...>;
      return scalar_of<given, typename column_argument<A>::type...>(
          [function] { return std::make_unique<made>(function); });
    });
  } else {
    return with_parameters<parameter_list, 0, 0>([&]<class... A>() {
      using given = std::remove_cvref_t<typename signature::given>;
      return scalar_of<given, A...>(
          [function] { return std::make_unique<native_scalar_rows<F, given, A...>>(function); });
    });
  }
}

// ---- rows -----------------------------------------------------------------------------------

template <class F, class Row, class... T>
class native_table_rows final : public graph::user_table {
public:
  explicit native_table_rows(F function) : function_(std::move(function)) {}
  result<std::size_t> make(graph::user_arguments arguments, graph::user_rows rows, std::size_t from,
                           std::size_t rows_max, std::vector<std::uint32_t>& parents,
                           graph::batch_builder& out) override {
    const argument_readers<T...> read(arguments);
    collector<Row> emitted(out);
    for (; from < rows.count && parents.size() < rows_max; ++from) {
      const auto row = rows.at(from);
      if (read.is_missing(row))
        continue;
      const auto before = out.size();
      read.call(row,
                [&](auto&&... each) { function_(std::forward<decltype(each)>(each)..., emitted); });
      parents.insert(parents.end(), out.size() - before, static_cast<std::uint32_t>(from));
    }
    return from;
  }

private:
  F function_;
};

template <class F>
graph::native_function make_table_function(F function) {
  using parameter_list = typename native_signature<F>::parameter_list;
  using row = typename collected<last_parameter_t<parameter_list>>::type;
  return with_parameters<parameter_list, 0, 1>([&]<class... A>() {
    graph::native_function out;
    out.form = graph::user_form::table;
    out.parameters = parameter_types<A...>();
    out.result = row_info<row>::type();
    out.make_table = [function] {
      return std::make_unique<native_table_rows<F, row, A...>>(function);
    };
    return out;
  });
}

// ---- aggregates -----------------------------------------------------------------------------

template <class F>
using accumulate_parameters = typename native_signature<decltype(&F::accumulate)>::parameter_list;

/// What a group keeps between rows, as bytes.
template <class Accumulator>
struct group_bytes {
  static constexpr bool is_fixed = is_fixed_accumulator<Accumulator>();
  static_assert(is_fixed || streamable<Accumulator>,
                "describe the accumulator with HEADRACE_STRUCT: it is too large or not trivially "
                "copyable, so it must be encoded");

  static Accumulator load(byte_view from) {
    if constexpr (is_fixed) {
      Accumulator out;
      if (from.size() != sizeof(out))
        throw graph::failure({errc::corrupt_snapshot,
                              "what is kept of a group has another size: the accumulator is not "
                              "the one that wrote it"});
      std::memcpy(&out, from.data(), sizeof(out));
      return out;
    } else {
      return decoded<Accumulator>(from);
    }
  }
  static void store(byte_string& to, const Accumulator& value) {
    if constexpr (is_fixed)
      to.assign(reinterpret_cast<const char*>(&value), sizeof(value));
    else
      to = encoded(value); // encoded aside: views in the value may lie in `to`
  }
};

template <class F>
inline constexpr bool has_retract_of = requires {
  &F::retract;
};
template <class F>
inline constexpr bool has_merge_of = requires {
  &F::merge;
};

template <class F, class Accumulator, class... T>
class native_aggregate_rows final : public graph::user_aggregate {
public:
  explicit native_aggregate_rows(F function) : function_(std::move(function)) {}

  status create(byte_string& group) override {
    if constexpr (requires { function_.create(); })
      bytes::store(group, function_.create());
    else
      bytes::store(group, Accumulator{});
    return {};
  }
  status accumulate(byte_string& group, graph::user_arguments arguments, std::size_t row) override {
    return change(group, arguments, row, [&](Accumulator& held, const auto&... each) {
      function_.accumulate(held, each...);
    });
  }
  status retract(byte_string& group, graph::user_arguments arguments, std::size_t row) override {
    return change(group, arguments, row, [&](Accumulator& held, const auto&... each) {
      if constexpr (has_retract_of<F>)
        function_.retract(held, each...);
    });
  }
  status merge(byte_string& group, byte_view other) override {
    if constexpr (has_merge_of<F>) {
      auto held = bytes::load(group);
      const auto from = bytes::load(other);
      function_.merge(held, from);
      bytes::store(group, held);
    }
    return {};
  }
  status tell(byte_view group, graph::column_builder& out) override {
    const auto held = bytes::load(group);
    using given = std::remove_cvref_t<decltype(function_.result(held))>;
    info_of<given>::append(out, function_.result(held));
    return {};
  }

private:
  using bytes = group_bytes<Accumulator>;
  template <class Body>
  status change(byte_string& group, graph::user_arguments arguments, std::size_t row, Body body) {
    const argument_readers<T...> read(arguments);
    if (read.is_missing(row))
      return {};
    auto held = bytes::load(group);
    read.call(row, [&](const auto&... each) { body(held, each...); });
    bytes::store(group, held);
    return {};
  }

  F function_;
};

template <class F>
graph::native_function make_aggregate_function(F function) {
  using parameter_list = accumulate_parameters<F>;
  using first = std::tuple_element_t<0, parameter_list>;
  using accumulator = std::remove_cvref_t<first>;
  static_assert(std::is_same_v<first, accumulator&>,
                "accumulate takes a reference to the group first, which it changes");
  return with_parameters<parameter_list, 1, 0>([&]<class... A>() {
    using given = std::remove_cvref_t<typename native_signature<decltype(&F::result)>::given>;
    graph::native_function out;
    out.form = graph::user_form::aggregate;
    out.has_retract = has_retract_of<F>;
    out.has_merge = has_merge_of<F>;
    out.parameters = parameter_types<A...>();
    out.result = info_of<given>::type();
    out.make_aggregate = [function] {
      return std::make_unique<native_aggregate_rows<F, accumulator, A...>>(function);
    };
    return out;
  });
}

} // namespace headrace::api
