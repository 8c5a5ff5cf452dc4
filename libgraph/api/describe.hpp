#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace headrace::api {

/// Splits the type of a member pointer.
template <class Pointer>
struct member_pointer;
template <class Owner, class Member>
struct member_pointer<Member Owner::*> {
  using owner = Owner;
  using member = Member;
};
template <auto Pointer>
using member_type_of = typename member_pointer<decltype(Pointer)>::member;

/// The fields of a struct: its member pointers as types, their names as values.
template <auto... Members>
struct description {
  static constexpr std::size_t size = sizeof...(Members);
  std::array<const char*, size> names;

  /// Calls `visit` with an index constant and a member-pointer constant for each field, in order.
  template <class Visit>
  static constexpr void for_each(Visit&& visit) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (visit(std::integral_constant<std::size_t, I>(),
             std::integral_constant<decltype(Members), Members>()),
       ...);
    }
    (std::make_index_sequence<size>());
  }
};

/// A struct that HEADRACE_STRUCT describes.
template <class T>
concept described = std::is_class_v<T> && requires {
  {headrace_describe(static_cast<const T*>(nullptr))};
};
template <described T>
inline constexpr auto description_of = headrace_describe(static_cast<const T*>(nullptr));

/// Returns the place of a field in its struct's description, or -1.
template <described T, class Pointer>
constexpr int field_index(Pointer wanted) {
  int found = -1;
  description_of<T>.for_each([&](auto index, auto member) {
    if constexpr (std::is_same_v<typename decltype(member)::value_type, Pointer>)
      if (member() == wanted)
        found = static_cast<int>(index());
  });
  return found;
}

} // namespace headrace::api

// Applies a macro to a type and each of up to 60 further arguments.
#define HEADRACE_PARENS ()
#define HEADRACE_EXPAND(...) HEADRACE_EXPAND3(HEADRACE_EXPAND3(HEADRACE_EXPAND3(__VA_ARGS__)))
#define HEADRACE_EXPAND3(...) HEADRACE_EXPAND2(HEADRACE_EXPAND2(HEADRACE_EXPAND2(__VA_ARGS__)))
#define HEADRACE_EXPAND2(...) HEADRACE_EXPAND1(HEADRACE_EXPAND1(HEADRACE_EXPAND1(__VA_ARGS__)))
#define HEADRACE_EXPAND1(...) HEADRACE_EXPAND0(HEADRACE_EXPAND0(__VA_ARGS__))
#define HEADRACE_EXPAND0(...) __VA_ARGS__
#define HEADRACE_EACH(apply, type, ...)                                                            \
  __VA_OPT__(HEADRACE_EXPAND(HEADRACE_EACH_STEP(apply, type, __VA_ARGS__)))
#define HEADRACE_EACH_STEP(apply, type, first, ...)                                                \
  apply(type, first) __VA_OPT__(, HEADRACE_EACH_AGAIN HEADRACE_PARENS(apply, type, __VA_ARGS__))
#define HEADRACE_EACH_AGAIN() HEADRACE_EACH_STEP
#define HEADRACE_MEMBER(type, field) &type::field
#define HEADRACE_NAME(type, field) #field

/// Describes a struct, once, at namespace scope, in the struct's own namespace:
///
///     struct word_count { std::string word; std::int64_t count; };
///     HEADRACE_STRUCT(word_count, word, count)
///
/// Its fields become columns of these names, in this order. Up to 32 fields, each of a type that
/// has a `type_info`; members that are left out keep their default.
#define HEADRACE_STRUCT(type, ...)                                                                 \
  [[maybe_unused]] inline constexpr auto headrace_describe(const type*) {                          \
    using headrace_fields =                                                                        \
        ::headrace::api::description<HEADRACE_EACH(HEADRACE_MEMBER, type, __VA_ARGS__)>;           \
    static_assert(headrace_fields::size <= 32, "HEADRACE_STRUCT takes up to 32 fields");           \
    return headrace_fields{{HEADRACE_EACH(HEADRACE_NAME, type, __VA_ARGS__)}};                     \
  }
