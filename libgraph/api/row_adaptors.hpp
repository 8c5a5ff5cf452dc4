#pragma once

#include "libgraph/api/collector.hpp"
#include "libgraph/api/function_traits.hpp"
#include "libgraph/api/raw_state.hpp"
#include "libgraph/api/row_info.hpp"
#include "libgraph/function/function.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

namespace headrace::api {

/// Rows between two looks at the bytes of a piece.
inline constexpr std::size_t rows_between_checks = 64;

/// Calls `body(column row, index among the selected)` for selected rows from `from` on, until the
/// output is full. @returns the row to go on with, as row_function::process
template <class Body>
std::size_t for_each_indexed_row(const graph::record_batch& in, std::size_t from,
                                 const graph::function_output& out, Body&& body) {
  const auto size = in.size();
  const auto* selected = in.has_selection() ? in.selection().data() : nullptr;
  while (from < size) {
    const auto stop = std::min(size, from + rows_between_checks);
    for (; from < stop; ++from) {
      body(selected == nullptr ? from : std::size_t{selected[from]}, from);
      if (out.main_size() >= out.rows_max()) [[unlikely]]
        return from + 1;
    }
    if (from < size && out.is_full())
      return from;
  }
  return from;
}

/// As for_each_indexed_row, with `body(column row)`.
template <class Body>
std::size_t for_each_row(const graph::record_batch& in, std::size_t from,
                         const graph::function_output& out, Body&& body) {
  return for_each_indexed_row(in, from, out, [&](std::size_t row, std::size_t) { body(row); });
}

/// Calls `open(context)` and `close()` of functions that have them.
template <class F>
void open_function(F& function, const graph::function_context& context) {
  if constexpr (requires { function.open(context); })
    function.open(context);
}
template <class F>
void close_function(F& function) {
  if constexpr (requires { function.close(); })
    function.close();
}

inline void end_row(graph::batch_builder& out, const std::int64_t* timestamps, std::size_t row) {
  if (timestamps == nullptr)
    out.end_row();
  else
    out.end_row(timestamps[row]);
}
inline std::int64_t timestamp_at(const std::int64_t* timestamps, std::size_t row) {
  return timestamps == nullptr ? no_timestamp : timestamps[row];
}

/// Runs `Out(In)` for each row.
template <class In, class Out, class F>
class map_adaptor final : public graph::row_function {
public:
  explicit map_adaptor(F function) : function_(std::move(function)) {}
  void open(const graph::function_context& context) override { open_function(function_, context); }
  std::size_t process(const graph::record_batch& in, std::size_t from,
                      graph::function_output& out) override {
    const row_reader<In> read(in);
    const auto* timestamps = in.timestamps();
    auto& main = out.main();
    return for_each_row(in, from, out, [&](std::size_t row) {
      row_info<Out>::append(main, function_(read(row)));
      end_row(main, timestamps, row);
    });
  }
  graph::raw_state_writer* raw_state() override { return raw_state_of(function_); }
  void close() override { close_function(function_); }

private:
  F function_;
};

/// Runs `void(In, collector<Out>&)` for each row.
template <class In, class Out, class F>
class flat_map_adaptor final : public graph::row_function {
public:
  explicit flat_map_adaptor(F function) : function_(std::move(function)) {}
  void open(const graph::function_context& context) override { open_function(function_, context); }
  std::size_t process(const graph::record_batch& in, std::size_t from,
                      graph::function_output& out) override {
    const row_reader<In> read(in);
    const auto* timestamps = in.timestamps();
    collector<Out> emitted(out.main());
    return for_each_row(in, from, out, [&](std::size_t row) {
      emitted.set_timestamp(timestamp_at(timestamps, row));
      function_(read(row), emitted);
    });
  }
  graph::raw_state_writer* raw_state() override { return raw_state_of(function_); }
  void close() override { close_function(function_); }

private:
  F function_;
};

/// Runs a coroutine for each row, and leaves it suspended when the output is full.
template <class In, class Out, class F>
class generator_adaptor final : public graph::row_function {
public:
  explicit generator_adaptor(F function) : function_(std::move(function)) {}
  void open(const graph::function_context& context) override { open_function(function_, context); }
  std::size_t process(const graph::record_batch& in, std::size_t from,
                      graph::function_output& out) override {
    const row_reader<In> read(in);
    const auto* timestamps = in.timestamps();
    collector<Out> emitted(out.main());
    for (; from < in.size(); ++from) {
      const auto row = in.row_at(from);
      emitted.set_timestamp(timestamp_at(timestamps, row));
      if (running_.is_none()) {
        row_.emplace(read(row)); // lives as long as the coroutine, which may hold a reference
        running_ = function_(*row_);
      }
      if (!drain(emitted, out))
        return from;
      running_.reset();
      if (out.is_full())
        return from + 1;
    }
    return from;
  }
  void close() override {
    running_.reset();
    close_function(function_);
  }

private:
  /// @returns whether the coroutine has ended
  bool drain(collector<Out>& emitted, const graph::function_output& out) {
    for (std::size_t i = 1;; ++i) {
      if (out.main_size() >= out.rows_max() || (i % rows_between_checks == 0 && out.is_full()))
        return false;
      const auto* value = running_.next();
      if (value == nullptr)
        return true;
      emitted.emit(*value);
    }
  }

  F function_;
  std::optional<In> row_;
  generator<Out> running_;
};

/// Keeps the rows for which `bool(In)` holds.
template <class In, class F>
class filter_adaptor final : public graph::filter_function {
public:
  explicit filter_adaptor(F function) : function_(std::move(function)) {}
  void open(const graph::function_context& context) override { open_function(function_, context); }
  std::size_t select(const graph::record_batch& in, std::uint32_t* kept) override {
    const row_reader<In> read(in);
    std::size_t count = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const auto row = in.row_at(i);
      kept[count] = row;
      count += function_(read(row)) ? 1U : 0U;
    }
    return count;
  }
  void close() override { close_function(function_); }

private:
  F function_;
};

/// Copies all columns and appends those of the key that a function computes.
template <class In, class Key, class F>
class key_adaptor final : public graph::row_function {
public:
  explicit key_adaptor(F function) : function_(std::move(function)) {}
  std::size_t process(const graph::record_batch& in, std::size_t from,
                      graph::function_output& out) override {
    const auto stop = std::min(in.size(), from + std::max<std::size_t>(1, out.rows_max()));
    rows_.clear();
    for (auto i = from; i < stop; ++i)
      rows_.push_back(in.row_at(i));
    auto& main = out.main();
    for (std::size_t column = 0; column < in.column_count(); ++column)
      main.column(column).append_from(in.at(column), rows_);
    const row_reader<In> read(in);
    const auto* timestamps = in.timestamps();
    for (const auto row : rows_) {
      append_key(main, in.column_count(), function_(read(row)));
      end_row(main, timestamps, row);
    }
    return stop;
  }

private:
  static void append_key(graph::batch_builder& out, std::size_t first, const Key& key) {
    if constexpr (has_fields<Key>) {
      fields_of<Key>::for_each(key, [&]<class Field>(auto index, const Field& field) {
        type_info<Field>::append(out.column(first + index()), field);
      });
    } else {
      type_info<Key>::append(out.column(first), key);
    }
  }

  F function_;
  std::vector<std::uint32_t> rows_;
};

/// Writes event times that a function takes from rows: milliseconds or timestamp_ms.
template <class In, class F>
class timestamp_adaptor final : public graph::timestamp_assigner {
public:
  explicit timestamp_adaptor(F function) : function_(std::move(function)) {}
  void assign(const graph::record_batch& in, std::int64_t* out_ms) override {
    const row_reader<In> read(in);
    for (std::size_t i = 0; i < in.size(); ++i) {
      const auto row = in.row_at(i);
      out_ms[row] = milliseconds_of(function_(read(row)));
    }
  }

private:
  static std::int64_t milliseconds_of(timestamp_ms time) { return time.value; }
  static std::int64_t milliseconds_of(std::chrono::sys_time<std::chrono::milliseconds> time) {
    return time.time_since_epoch().count();
  }
  static std::int64_t milliseconds_of(std::int64_t time) { return time; }

  F function_;
};

/// Chooses the subtask of each row: `index(In, subtask count)`.
template <class In, class F>
class partitioner_adaptor final : public graph::custom_partitioner {
public:
  explicit partitioner_adaptor(F function) : function_(std::move(function)) {}
  void partition(const graph::record_batch& in, std::uint32_t target_count,
                 std::uint32_t* targets) override {
    const row_reader<In> read(in);
    for (std::size_t i = 0; i < in.size(); ++i)
      targets[i] = static_cast<std::uint32_t>(function_(read(in.row_at(i)), target_count));
  }

private:
  F function_;
};

} // namespace headrace::api
