// Nexmark's queries as loops by hand in one thread, beside which bench/nexmark/run.py sets the
// engines.
//
//     nexmark_loops QUERY loop|decoded TURN FILE…
//
// The files are JSON lines that take turns of so many events. `loop` reads, decodes and computes;
// `decoded` decodes all fields of some events first, then counts the time of computing alone.

#include "bench/nexmark/json_reader.hpp"
#include "bench/nexmark/loop_queries.hpp"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <fstream>
#include <functional>
#include <map>

namespace headrace::bench::nexmark {
namespace {

constexpr std::size_t decoded_events_max = 100'000;

double now(clockid_t clock) {
  timespec at{};
  clock_gettime(clock, &at);
  return static_cast<double>(at.tv_sec) + static_cast<double>(at.tv_nsec) * 1e-9;
}

struct stopwatch {
  double wall = now(CLOCK_MONOTONIC);
  double cpu = now(CLOCK_THREAD_CPUTIME_ID);
};

struct result {
  double seconds = 0;
  double core_seconds = 0;
  std::uint64_t events = 0;

  void add(const stopwatch& since) {
    seconds += now(CLOCK_MONOTONIC) - since.wall;
    core_seconds += now(CLOCK_THREAD_CPUTIME_ID) - since.cpu;
  }
};

struct input {
  std::vector<std::string> paths;
  std::size_t turn = 0;
  bool is_decoded = false;
};

/// Calls `take` with the reader of each event, in the order in which they were dealt out.
template <class Take>
void for_each_event(const input& from, Take take) {
  std::vector<std::unique_ptr<json_reader>> readers;
  for (const auto& path : from.paths)
    readers.push_back(std::make_unique<json_reader>(path));
  for (std::size_t at = 0; !readers.empty();) {
    std::size_t taken = 0;
    for (; taken < from.turn && readers[at]->next(); ++taken)
      take(*readers[at]);
    if (taken == from.turn)
      ++at;
    else
      readers.erase(readers.begin() + static_cast<std::ptrdiff_t>(at));
    if (at == readers.size())
      at = 0;
  }
}

/// Some events with all of their fields.
struct decoded_events {
  static constexpr fields person_fields = field::all;
  static constexpr fields auction_fields = field::all;
  static constexpr fields bid_fields = field::all;

  void on_person(person of) {
    for (auto* text : {&of.name, &of.email, &of.credit_card, &of.city, &of.state, &of.extra})
      *text = texts.keep(*text);
    kinds.push_back(kind::person);
    persons.push_back(of);
  }
  void on_auction(auction of) {
    for (auto* text : {&of.item_name, &of.description, &of.extra})
      *text = texts.keep(*text);
    kinds.push_back(kind::auction);
    auctions.push_back(of);
  }
  void on_bid(bid of) {
    for (auto* text : {&of.channel, &of.url, &of.extra})
      *text = texts.keep(*text);
    kinds.push_back(kind::bid);
    bids.push_back(of);
  }

  std::vector<kind> kinds;
  std::vector<person> persons;
  std::vector<auction> auctions;
  std::vector<bid> bids;
  text_store texts;
};

template <class Query>
void give(const decoded_events& events, Query& query) {
  const auto* person_at = events.persons.data();
  const auto* auction_at = events.auctions.data();
  const auto* bid_at = events.bids.data();
  for (const auto each : events.kinds) {
    if (each == kind::bid)
      query.on_bid(*bid_at++);
    else if (each == kind::auction)
      query.on_auction(*auction_at++);
    else
      query.on_person(*person_at++);
  }
}

template <class Query>
result run(const input& from, Query& query) {
  result out;
  if (!from.is_decoded) {
    const stopwatch since;
    for_each_event(from, [&](json_reader& reader) {
      reader.give_to(query);
      ++out.events;
    });
    query.finish();
    out.add(since);
    return out;
  }
  auto events = std::make_unique<decoded_events>();
  const auto work_on = [&] {
    const stopwatch since;
    give(*events, query);
    out.add(since);
    out.events += events->kinds.size();
    events = std::make_unique<decoded_events>();
  };
  for_each_event(from, [&](json_reader& reader) {
    reader.give_to(*events);
    if (events->kinds.size() == decoded_events_max)
      work_on();
  });
  work_on();
  const stopwatch since;
  query.finish();
  out.add(since);
  return out;
}

/// Peak resident memory, of /proc, which forgets what the process was before it was this program.
std::uint64_t peak_bytes() {
  std::ifstream lines("/proc/self/status");
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("VmHWM:"))
      return std::strtoull(line.c_str() + 6, nullptr, 10) * 1024;
  return 0;
}

template <class Query>
void run_and_print(const input& from) {
  const auto query = std::make_unique<Query>();
  const auto of = run(from, *query);
  std::printf("{\"events\":%llu,\"seconds\":%.6f,\"core_seconds\":%.6f,\"result_rows\":%llu,"
              "\"changes\":%llu,\"checksum\":%llu,\"peak_memory_bytes\":%llu}\n",
              static_cast<unsigned long long>(of.events), of.seconds, of.core_seconds,
              static_cast<unsigned long long>(query->result_rows()),
              static_cast<unsigned long long>(query->out.changes()),
              static_cast<unsigned long long>(query->out.checksum()),
              static_cast<unsigned long long>(peak_bytes()));
}

const std::map<std::string_view, std::function<void(const input&)>> queries{
    {"q0", run_and_print<q0>},   {"q1", run_and_print<q1>},   {"q2", run_and_print<q2>},
    {"q3", run_and_print<q3>},   {"q5", run_and_print<q5>},   {"q7", run_and_print<q7>},
    {"q8", run_and_print<q8>},   {"q14", run_and_print<q14>}, {"q17", run_and_print<q17>},
    {"q18", run_and_print<q18>}, {"q20", run_and_print<q20>}, {"q22", run_and_print<q22>},
};

} // namespace
} // namespace headrace::bench::nexmark

int main(int argc, char** argv) {
  using namespace headrace::bench::nexmark;
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  const bool is_known = words.size() >= 4 && queries.contains(words[0]) &&
                        (words[1] == "loop" || words[1] == "decoded") && std::atoi(argv[3]) > 0;
  if (!is_known) {
    std::fprintf(stderr, "usage: nexmark_loops QUERY loop|decoded TURN FILE…\n");
    return 2;
  }
  try {
    queries.at(words[0])({{words.begin() + 3, words.end()},
                          static_cast<std::size_t>(std::atoi(argv[3])),
                          words[1] == "decoded"});
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "nexmark_loops: %s\n", failure.what());
    return 1;
  }
  return 0;
}
