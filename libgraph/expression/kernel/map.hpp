#pragma once

#include "libgraph/expression/kernel/column_access.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

// Loops of kernels. A function is instantiated once a loop: those that are called once a value are
// inlined into it.
namespace headrace::graph {

/// Whether to compute every row where not all are asked for: cheaper when most are.
inline bool computes_all(const row_set& rows) {
  return rows.is_dense() || rows.count * 2 >= rows.total;
}

/// R = f(A) for fixed widths, with an `f` that takes any value: also that of a NULL.
template <class R, class A, class Function>
column_ptr map_one(kernel_frame& frame, Function f) {
  const auto total = frame.rows.total;
  auto out = frame.buffers.allocate(total * sizeof(R));
  auto* to = out->mutable_as<R>();
  const reader<A> a(frame.arguments[0]);
  if (computes_all(frame.rows) && !a.is_constant()) {
    const auto* from = a.values();
    for (std::size_t i = 0; i < total; ++i)
      to[i] = f(from[i]);
  } else {
    for_each_row(frame.rows, [&](std::size_t row) { to[row] = f(a[row]); });
  }
  return make_fixed(frame.type, total, std::move(out), joined_validity(frame));
}

/// R = f(A, A) for fixed widths, with an `f` that takes any values.
template <class R, class A, class Function>
column_ptr map_two(kernel_frame& frame, Function f) {
  const auto total = frame.rows.total;
  auto out = frame.buffers.allocate(total * sizeof(R));
  auto* to = out->mutable_as<R>();
  const reader<A> a(frame.arguments[0]);
  const reader<A> b(frame.arguments[1]);
  if (!computes_all(frame.rows) || (a.is_constant() && b.is_constant())) {
    for_each_row(frame.rows, [&](std::size_t row) { to[row] = f(a[row], b[row]); });
  } else if (b.is_constant()) {
    const auto* left = a.values();
    const A right = b[0];
    for (std::size_t i = 0; i < total; ++i)
      to[i] = f(left[i], right);
  } else if (a.is_constant()) {
    const A left = a[0];
    const auto* right = b.values();
    for (std::size_t i = 0; i < total; ++i)
      to[i] = f(left, right[i]);
  } else {
    const auto* left = a.values();
    const auto* right = b.values();
    for (std::size_t i = 0; i < total; ++i)
      to[i] = f(left[i], right[i]);
  }
  return make_fixed(frame.type, total, std::move(out), joined_validity(frame));
}

/// R = f(Arguments…) where no argument is NULL; nothing from `f` is NULL. `f` may call
/// `frame.fail`.
template <class R, class... Arguments, class Function>
column_ptr map_rows(kernel_frame& frame, Function f) {
  auto out = frame.buffers.allocate(frame.rows.total * sizeof(R));
  auto* to = out->mutable_as<R>();
  validity_writer validity(frame, joined_validity(frame));
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    [[maybe_unused]] const std::tuple<reader<Arguments>...> from{
        reader<Arguments>(frame.arguments[I])...};
    for_each_row(frame.rows, [&](std::size_t row) {
      to[row] = R{};
      if (validity.is_null(row))
        return;
      const std::optional<R> made = f(std::get<I>(from)[row]...);
      if (made)
        to[row] = *made;
      else
        validity.set_null(row);
    });
  }
  (std::index_sequence_for<Arguments...>());
  return make_fixed(frame.type, frame.rows.total, std::move(out), validity.finish());
}

/// Where a function of texts writes.
struct text_result {
  std::string text; ///< empty at first
  kernel_frame& frame;
};

/// Text of f(text_result&, Arguments…) where no argument is NULL; `f` gives false for NULL.
template <class... Arguments, class Function>
column_ptr map_text(kernel_frame& frame, Function f) {
  text_writer writer(frame);
  validity_writer validity(frame, joined_validity(frame));
  text_result made{{}, frame};
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    [[maybe_unused]] const std::tuple<reader<Arguments>...> from{
        reader<Arguments>(frame.arguments[I])...};
    for_each_row(frame.rows, [&](std::size_t row) {
      if (validity.is_null(row)) {
        writer.put_empty(row);
        return;
      }
      made.text.clear();
      if (f(made, std::get<I>(from)[row]...)) {
        writer.put(row, made.text);
      } else {
        writer.put_empty(row);
        validity.set_null(row);
      }
    });
  }
  (std::index_sequence_for<Arguments...>());
  return writer.finish(frame.type, frame.rows.total, validity.finish());
}

/// Text of f(Arguments…) that lies in an argument or in something that outlives the call of `f`; a
/// view without data is NULL.
template <class... Arguments, class Function>
column_ptr map_view(kernel_frame& frame, Function f) {
  text_writer writer(frame);
  validity_writer validity(frame, joined_validity(frame));
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    [[maybe_unused]] const std::tuple<reader<Arguments>...> from{
        reader<Arguments>(frame.arguments[I])...};
    for_each_row(frame.rows, [&](std::size_t row) {
      if (validity.is_null(row)) {
        writer.put_empty(row);
        return;
      }
      const std::string_view made = f(std::get<I>(from)[row]...);
      if (made.data() != nullptr) {
        writer.put(row, made);
      } else {
        writer.put_empty(row);
        validity.set_null(row);
      }
    });
  }
  (std::index_sequence_for<Arguments...>());
  return writer.finish(frame.type, frame.rows.total, validity.finish());
}

/// What a factory says of types that its function does not take.
inline error unfit(const kernel_request& request) {
  std::string types;
  for (const auto& each : request.arguments)
    types += (types.empty() ? "" : ", ") + each.nullable().to_sql();
  return {errc::type_mismatch,
          "no function for these types: " + std::string(request.function) + "(" + types + ")"};
}

} // namespace headrace::graph
