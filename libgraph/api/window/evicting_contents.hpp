#pragma once

#include "libgraph/api/window/evictor.hpp"
#include "libgraph/api/window/window_contents.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace headrace::api {

// What becomes of the rows that an evictor has left: `give(rows, call)`.

template <class T>
class evicted_rows {
public:
  using row_type = T;
  using given_type = window_rows<T>;
  template <class Call>
  void give(const std::vector<timestamped_value<T>>& rows, Call&& call) {
    given_.begin(rows.size());
    for (const auto& each : rows)
      given_.add(each.value);
    call(given_.rows());
  }

private:
  encoded_rows<T> given_;
};

/// Folded when the window fires; nothing when no row is left.
template <class Logic>
class evicted_fold {
public:
  using row_type = typename Logic::input_type;
  using given_type = typename Logic::output_type;
  explicit evicted_fold(Logic logic) : logic_(std::move(logic)) {}
  template <class Call>
  void give(const std::vector<timestamped_value<row_type>>& rows, Call&& call) {
    if (rows.empty())
      return;
    auto folded = logic_.begin(rows.front().value);
    for (auto row = rows.begin() + 1; row != rows.end(); ++row)
      logic_.add(row->value, folded);
    call(logic_.result(folded));
  }

private:
  Logic logic_;
};

/// All rows with their event times, as an evictor wants them; see window_contents.hpp. What is left
/// is given in `Shape`.
template <class Evictor, class Shape>
class evicting_contents {
public:
  using row_type = typename Shape::row_type;
  using given_type = typename Shape::given_type;
  using stored = std::pair<std::int64_t, row_type>; ///< event time and row

  evicting_contents(Evictor evictor, Shape shape)
      : evictor_(std::move(evictor)), shape_(std::move(shape)) {}
  void open(graph::state_provider& states, const graph::logical_type& window_type) {
    list_.open(states, "window-contents", info_of<stored>::type(), window_type, encoded(stored{}));
  }
  void add(byte_view space, const row_type& row, std::int64_t time_ms) {
    scratch_.clear();
    info_of<std::int64_t>::encode(scratch_, time_ms);
    info_of<row_type>::encode(scratch_, row);
    list_.add(space, scratch_);
  }
  void merge(byte_view into, byte_view from) { list_.merge(into, from); }
  void clear(byte_view space) { list_.clear(space); }
  template <class Window, class Call>
  void give(byte_view space, const Window& window, graph::keyed_context& keyed, Call&& call) {
    const auto [first, end] = list_.bounds_of(space);
    if (first == end)
      return;
    rows_.clear();
    for (auto place = first; place < end; ++place) {
      auto [time_ms, row] = decoded<stored>(list_.at(space, place));
      rows_.push_back({std::move(row), time_ms, place});
    }
    evictor_context context(keyed);
    evictor_.evict_before(rows_, window, context);
    shape_.give(rows_, call);
    evictor_.evict_after(rows_, window, context);
    kept_.clear();
    for (const auto& each : rows_)
      kept_.push_back(each.place);
    list_.keep(space, kept_);
    rows_.clear();
  }

private:
  Evictor evictor_;
  Shape shape_;
  window_list list_;
  byte_string scratch_;
  std::vector<timestamped_value<row_type>> rows_;
  std::vector<std::int64_t> kept_;
};

} // namespace headrace::api
