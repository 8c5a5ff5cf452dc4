// Measures operators that the API makes of functions, in one subtask with state on the heap, each
// beside a loop that does the same by hand: its results go into columns too. Prints one JSON line a
// measurement, CPU time of the thread.
//
//     datastream_bench [NAME]        only those whose name begins so

#include "bench/operator_host.hpp"
#include "libgraph/api/headrace.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace headrace::bench {

using namespace std::chrono_literals;

struct event {
  std::int64_t key = 0;
  std::int64_t value = 0;
};
HEADRACE_STRUCT(event, key, value)

} // namespace headrace::bench

namespace headrace::task {
namespace {

using namespace std::chrono_literals;
using bench::event;

constexpr std::uint64_t rows_a_ms = 100;
constexpr std::size_t batches_most = 256; // more than ten seconds

event add_up(const event& left, const event& right) { return {left.key, left.value + right.value}; }

auto keyed_events(api::environment& env) {
  return env.from_collection(std::vector<event>{}).key_by(&event::key);
}

/// Rows that a loop writes: a batch of them, over and over.
class loop_output {
public:
  void add(std::int64_t key, std::int64_t value) {
    out_.values[0][at_] = key;
    out_.values[1][at_] = value;
    if (++at_ == batch_rows) {
      keep(out_);
      at_ = 0;
    }
    ++rows_;
  }
  std::size_t rows() const { return rows_; }

private:
  result_columns out_{2};
  std::size_t at_ = 0;
  std::size_t rows_ = 0;
};

/// Three rounds of an operator and of a loop over the rows, each from its beginning; behind each
/// batch the watermark is at its newest row. Both have to give equally many rows.
/// @param make_loop  gives a function that takes (key, value, time) and one that takes a watermark
template <class MakeLoop>
void compare(const std::string& name, const api::stream_base& out, std::size_t keys,
             MakeLoop make_loop, std::int32_t inputs = 1) {
  const auto batches = make_batches({keys}, batches_most, rows_a_ms);
  double operator_ns = 1e300;
  double loop_ns = 1e300;
  std::size_t rows_out = 0;
  for (int round = 0; round < 3; ++round) {
    host made(out);
    const auto start = cpu_ns();
    for (std::size_t i = 0; i < batches.size(); ++i) {
      made.add(batches[i], static_cast<std::int32_t>(i) % inputs);
      made.advance(batches[i].timestamps()[batch_rows - 1] - 1);
    }
    operator_ns = std::min(operator_ns, cpu_ns() - start);
    rows_out = made.rows_out();
  }
  std::size_t loop_rows = 0;
  for (int round = 0; round < 3; ++round) {
    loop_output written;
    auto loop = make_loop(written);
    const auto start = cpu_ns();
    for (std::size_t i = 0; i < batches.size(); ++i) {
      const auto* key = batches[i].at(0).values<std::int64_t>();
      const auto* value = batches[i].at(1).values<std::int64_t>();
      const auto* time = batches[i].timestamps();
      for (std::size_t row = 0; row < batch_rows; ++row)
        loop.add(key[row], value[row], time[row], static_cast<std::int32_t>(i) % inputs);
      loop.advance(time[batch_rows - 1] - 1);
    }
    loop_ns = std::min(loop_ns, cpu_ns() - start);
    loop_rows = written.rows();
  }
  if (rows_out != loop_rows || rows_out == 0)
    task::fail(error(errc::internal, name + ": " + std::to_string(rows_out) + " rows, the loop " +
                                         std::to_string(loop_rows)));
  const auto rows = static_cast<double>(batches.size() * batch_rows);
  print(name, operator_ns / rows, loop_ns / rows);
}

/// Sums of windows of fixed panes, of which `panes` make a window.
struct pane_loop {
  loop_output& out;
  std::int64_t pane_ms;
  std::int64_t panes;
  boost::unordered_flat_map<std::int64_t, std::vector<std::int64_t>> sums = {}; ///< by key
  std::int64_t first = 0; ///< the oldest pane that is open; that of `sums`' front
  std::size_t kept = 0;

  void add(std::int64_t key, std::int64_t value, std::int64_t time, std::int32_t) {
    auto& of_key = sums[key];
    const auto at = static_cast<std::size_t>(time / pane_ms - first + panes - 1);
    if (of_key.size() <= at)
      of_key.resize(at + 1, none);
    auto& sum = of_key[at];
    sum = sum == none ? value : sum + value;
  }
  void advance(std::int64_t to_ms) {
    for (; (first + 1) * pane_ms - 1 <= to_ms; ++first) {
      for (auto& [key, of_key] : sums) {
        std::int64_t sum = none;
        const auto end = std::min(of_key.size(), static_cast<std::size_t>(panes));
        for (std::size_t at = 0; at < end; ++at) {
          if (of_key[at] != none)
            sum = sum == none ? of_key[at] : sum + of_key[at];
        }
        if (sum != none)
          out.add(key, sum);
        if (!of_key.empty())
          of_key.erase(of_key.begin());
      }
    }
  }
  static constexpr std::int64_t none = INT64_MIN;
};

void measure_pane_windows(std::size_t keys) {
  for (const std::int64_t panes : {1, 4}) {
    const auto name = std::string(panes == 1 ? "tumbling" : "sliding by a quarter") +
                      " window, reduce, " + std::to_string(keys) + " keys";
    if (!is_wanted(name))
      continue;
    api::environment env;
    const auto windowed =
        panes == 1 ? keyed_events(env).window(api::tumbling_event_time(1s)).reduce(add_up)
                   : keyed_events(env).window(api::sliding_event_time(1s, 250ms)).reduce(add_up);
    compare(name, windowed, keys, [&](loop_output& out) {
      return pane_loop{out, 1000 / panes, panes};
    });
  }
}

/// All rows of a window are kept, and a function sees them.
void measure_window_function(std::size_t keys) {
  const auto name = "tumbling window, all rows, " + std::to_string(keys) + " keys";
  if (!is_wanted(name))
    return;
  struct loop {
    loop_output& out;
    boost::unordered_flat_map<std::int64_t, std::vector<std::int64_t>> rows = {};
    std::vector<std::pair<std::int64_t, std::int64_t>> next = {}; ///< of the next window
    std::int64_t window = 0;
    void add(std::int64_t key, std::int64_t value, std::int64_t time, std::int32_t) {
      if (time / 1000 == window)
        rows[key].push_back(value);
      else
        next.emplace_back(key, value);
    }
    void advance(std::int64_t to_ms) {
      if (to_ms < window * 1000 + 999)
        return;
      for (const auto& [key, values] : rows) {
        std::int64_t most = 0;
        for (const auto value : values)
          most = std::max(most, value);
        out.add(key, most);
      }
      rows.clear();
      ++window;
      for (const auto& [key, value] : std::exchange(next, {}))
        rows[key].push_back(value);
    }
  };
  api::environment env;
  const auto out = keyed_events(env)
                       .window(api::tumbling_event_time(1s))
                       .process([](api::window_context<std::int64_t>& context,
                                   const api::window_rows<event>& rows, api::collector<event>& to) {
                         std::int64_t most = 0;
                         for (const auto& row : rows)
                           most = std::max(most, row.value);
                         to.emit({context.key(), most});
                       });
  compare(name, out, keys, [](loop_output& to) { return loop{to}; });
}

void measure_sessions(std::size_t keys, std::int64_t gap_ms) {
  const auto name = "session window, reduce, " + std::to_string(keys) + " keys";
  if (!is_wanted(name))
    return;
  struct session {
    std::int64_t sum = 0;
    std::int64_t end_ms = 0; ///< exclusive
  };
  struct loop {
    loop_output& out;
    std::int64_t gap_ms;
    boost::unordered_flat_map<std::int64_t, session> open = {};
    std::deque<std::pair<std::int64_t, std::int64_t>> due = {}; ///< end and key, in order
    void add(std::int64_t key, std::int64_t value, std::int64_t time, std::int32_t) {
      auto& found = open[key];
      if (found.end_ms != 0 && time > found.end_ms) { // touching ones are one
        out.add(key, found.sum);
        found.sum = 0;
      }
      found.sum += value;
      if (found.end_ms != time + gap_ms)
        due.emplace_back(time + gap_ms, key);
      found.end_ms = time + gap_ms;
    }
    void advance(std::int64_t to_ms) {
      for (; !due.empty() && due.front().first - 1 <= to_ms; due.pop_front()) {
        const auto found = open.find(due.front().second);
        if (found == open.end() || found->second.end_ms != due.front().first)
          continue;
        out.add(found->first, found->second.sum);
        open.erase(found);
      }
    }
  };
  api::environment env;
  compare(name,
          keyed_events(env)
              .window(api::session_event_time(std::chrono::milliseconds(gap_ms)))
              .reduce(add_up),
          keys, [&](loop_output& out) {
            return loop{out, gap_ms};
          });
}

void measure_counts(std::size_t keys) {
  const auto name = "count window of 100, reduce, " + std::to_string(keys) + " keys";
  if (!is_wanted(name))
    return;
  struct counted {
    std::int64_t sum = 0;
    std::int64_t rows = 0;
  };
  struct loop {
    loop_output& out;
    boost::unordered_flat_map<std::int64_t, counted> open = {};
    void add(std::int64_t key, std::int64_t value, std::int64_t, std::int32_t) {
      auto& found = open[key];
      found.sum += value;
      if (++found.rows == 100) {
        out.add(key, found.sum);
        found = {};
      }
    }
    void advance(std::int64_t) {}
  };
  api::environment env;
  compare(name, keyed_events(env).count_window(100).reduce(add_up), keys,
          [](loop_output& out) { return loop{out}; });
}

void measure_interval_join(std::size_t keys, std::int64_t reach_ms) {
  const auto name = "interval join, " + std::to_string(keys) + " keys";
  if (!is_wanted(name))
    return;
  struct kept {
    std::int64_t time = 0;
    std::int64_t value = 0;
  };
  struct loop {
    loop_output& out;
    std::int64_t reach_ms;
    boost::unordered_flat_map<std::int64_t, std::array<std::deque<kept>, 2>> rows = {};
    void add(std::int64_t key, std::int64_t value, std::int64_t time, std::int32_t side) {
      auto& of_key = rows[key];
      auto& others = of_key[static_cast<std::size_t>(1 - side)];
      while (!others.empty() && others.front().time < passed_ms - reach_ms)
        others.pop_front();
      for (const auto& other : others) {
        if (other.time >= time - reach_ms && other.time <= time + reach_ms)
          out.add(key, value + other.value);
      }
      of_key[static_cast<std::size_t>(side)].push_back({time, value});
    }
    void advance(std::int64_t to_ms) { passed_ms = to_ms; }
    std::int64_t passed_ms = 0;
  };
  api::environment env;
  compare(
      name,
      keyed_events(env)
          .interval_join(keyed_events(env))
          .between(std::chrono::milliseconds(-reach_ms), std::chrono::milliseconds(reach_ms))
          .process(add_up),
      keys,
      [&](loop_output& out) {
        return loop{out, reach_ms};
      },
      2);
}

const api::map_state_descriptor<std::int64_t, std::int64_t> limits{"limits"};

/// Lets rows through that are above the limit that was broadcast for their key, with the sum of the
/// key's rows so far.
class above_limit final
    : public api::keyed_broadcast_process_function<std::int64_t, event, event, event> {
public:
  void open(api::open_context& context) override { sum_ = context.value<std::int64_t>("sum"); }
  void process(const event& in, read_only_context_type& context,
               api::collector<event>& out) override {
    const auto sum = sum_.value_or(0) + in.value;
    sum_.set(sum);
    if (in.value >= context.state(limits).get(in.key).value_or(0))
      out.emit({in.key, sum});
  }
  void process_broadcast(const event& in, context_type& context, api::collector<event>&) override {
    context.state(limits).put(in.key, in.value);
  }

private:
  api::value_state<std::int64_t> sum_;
};

/// Every other batch is broadcast.
void measure_broadcast(std::size_t keys) {
  const auto name = "broadcast pattern, " + std::to_string(keys) + " keys";
  if (!is_wanted(name))
    return;
  struct loop {
    loop_output& out;
    boost::unordered_flat_map<std::int64_t, std::int64_t> sums = {};
    boost::unordered_flat_map<std::int64_t, std::int64_t> limit_of = {};
    void add(std::int64_t key, std::int64_t value, std::int64_t, std::int32_t input) {
      if (input == 1) {
        limit_of[key] = value;
        return;
      }
      auto& sum = sums[key];
      sum += value;
      const auto found = limit_of.find(key);
      if (found == limit_of.end() || value >= found->second)
        out.add(key, sum);
    }
    void advance(std::int64_t) {}
  };
  api::environment env;
  const auto rules = env.from_collection(std::vector<event>{}).broadcast(limits);
  compare(
      name, keyed_events(env).connect(rules).process(above_limit()), keys,
      [](loop_output& out) { return loop{out}; }, 2);
}

/// Knows all answers.
class knowing final : public api::async_function<event, event> {
public:
  void async_invoke(const event& in, api::result_future<event> result) override {
    result.complete({in});
  }
};

/// An async function whose calls end at once.
void measure_async(bool is_ordered, std::int64_t capacity) {
  const auto name = std::string("async ") + (is_ordered ? "ordered" : "unordered") + ", capacity " +
                    std::to_string(capacity);
  if (!is_wanted(name))
    return;
  struct loop {
    loop_output& out;
    void add(std::int64_t key, std::int64_t value, std::int64_t, std::int32_t) {
      out.add(key, value);
    }
    void advance(std::int64_t) {}
  };
  api::environment env;
  const auto rows = env.from_collection(std::vector<event>{});
  compare(name,
          is_ordered ? api::ordered_wait(rows, knowing(), 1min, capacity)
                     : api::unordered_wait(rows, knowing(), 1min, capacity),
          1000, [](loop_output& out) { return loop{out}; });
}

} // namespace
} // namespace headrace::task

int main(int count, char** arguments) {
  using namespace headrace::task;
  if (count > 1)
    wanted_name = arguments[1];
  for (const std::size_t keys : {1000U, 100'000U})
    measure_pane_windows(keys);
  measure_window_function(1000);
  measure_sessions(10'000, 50);
  measure_counts(1000);
  measure_interval_join(1000, 10);
  measure_broadcast(1000);
  for (const std::int64_t capacity : {100, 1000}) {
    for (const bool is_ordered : {false, true})
      measure_async(is_ordered, capacity);
  }
  return 0;
}
