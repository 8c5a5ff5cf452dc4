#pragma once

#include "libgraph/api/native_adaptors.hpp"
#include "libgraph/user_function/object_stamp.hpp"

// Functions of SQL in C++. A shared object with some of them is a library, of which SQL makes them:
//
//     CREATE FUNCTION distance AS 'levenshtein' LANGUAGE CPP USING LIBRARY 'libtext.so';

/// A function that gives a value of a row's values:
///
///     std::int64_t levenshtein(std::string_view one, std::string_view other);
///     HEADRACE_SCALAR_FUNCTION(levenshtein, levenshtein)
///
/// The name, then a function, a lambda or an object with one operator(). What SQL passes and gets
/// is told by its parameters and its result, of types that have a `type_info`. A parameter that is
/// no std::optional takes no NULL: where an argument is NULL the function is not called, and the
/// value is NULL. A view that was passed is valid until the function returns. Objects are copied,
/// one a subtask.
///
/// One whose parameters are `const argument_column<T>&`, and the last one `result_column<R>&`, is
/// called for many rows at once, and appends a value for each.
#define HEADRACE_SCALAR_FUNCTION(name, ...)                                                        \
  HEADRACE_NATIVE_FUNCTION(name, ::headrace::api::make_scalar_function(__VA_ARGS__))

/// A function that gives rows of a row's values, by its last parameter, a `collector<Row>&`; Row is
/// as the rows of streams are, and names the columns:
///
///     void words(std::string_view text, headrace::api::collector<word>& out);
///     HEADRACE_TABLE_FUNCTION(words, words)
///
/// Where an argument is NULL, and the parameter is no std::optional, there are no rows.
#define HEADRACE_TABLE_FUNCTION(name, ...)                                                         \
  HEADRACE_NATIVE_FUNCTION(name, ::headrace::api::make_table_function(__VA_ARGS__))

/// A function that gives a value of a group's rows: an object with
///
///     Accumulator create();                          // perhaps; else Accumulator{}
///     void accumulate(Accumulator& group, T value, …);
///     void retract(Accumulator& group, T value, …);   // perhaps: needed where rows are updated
///     void merge(Accumulator& into, const Accumulator& from); // perhaps
///     R result(const Accumulator& group);
///
/// Where an argument is NULL, and the parameter is no std::optional, the row is not counted. An
/// accumulator that is trivially copyable, without pointers or views, and of at most 256 bytes lies
/// in the state as it is; another one is described with HEADRACE_STRUCT and encoded.
#define HEADRACE_AGGREGATE_FUNCTION(name, ...)                                                     \
  HEADRACE_NATIVE_FUNCTION(name, ::headrace::api::make_aggregate_function(__VA_ARGS__))

#define HEADRACE_NATIVE_FUNCTION(name, ...)                                                        \
  extern "C" {                                                                                     \
  __attribute__((used,                                                                             \
                 section(HEADRACE_STAMP_SECTION))) static const char headrace_stamp_##name[] =     \
      HEADRACE_STAMP;                                                                              \
  __attribute__((used,                                                                             \
                 section(HEADRACE_FUNCTIONS_SECTION))) static const char headrace_name_##name[] =  \
      #name;                                                                                       \
  __attribute__((visibility("default")))                                                           \
  const ::headrace::graph::native_function* headrace_function_##name();                            \
  const ::headrace::graph::native_function* headrace_function_##name() {                           \
    static const ::headrace::graph::native_function made = __VA_ARGS__;                            \
    return &made;                                                                                  \
  }                                                                                                \
  }
