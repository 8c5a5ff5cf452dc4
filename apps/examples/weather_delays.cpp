// How late flights were that left in a spell of bad weather: days of rain, snow or storm become
// sessions, which an interval join brings together with the flights of their airport.
//
//     headrace run libweather_delays.so -- --weather .cache/open-data/weather.csv
//       --flights .cache/open-data/flights-20k.json [--year 2012]
//
// Lines of the weather: location,date,precipitation in mm,highest and lowest temperature,wind in
// m/s,weather; behind a header. Flights are JSON objects. The open files are of different years, so
// times are those within a year, and the weather is that of `--year`.

#include "libgraph/api/headrace.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace api = headrace::api;
using namespace std::chrono_literals;

constexpr auto day = 24h;
constexpr auto spell_gap = 36h; ///< one dry day between two bad ones does not end a spell
constexpr auto spell_longest = 30 * day;

struct weather_day {
  std::string location;
  std::string date; ///< 2012-01-31
  double rain_mm = 0;
  double warmest = 0;
  double coldest = 0;
  double wind = 0;
  std::string weather;
};
HEADRACE_STRUCT(weather_day, location, date, rain_mm, warmest, coldest, wind, weather)

struct flight {
  std::string date;       ///< 2001/01/31 23:59
  std::int64_t delay = 0; ///< in minutes; less than nothing: early
  std::string origin;
};
HEADRACE_STRUCT(flight, date, delay, origin)

struct bad_day {
  std::string airport;
  std::int64_t time_ms = 0;
  double rain_mm = 0;
};
HEADRACE_STRUCT(bad_day, airport, time_ms, rain_mm)

struct spell {
  std::string airport;
  std::int64_t start_ms = 0;
  std::int64_t end_ms = 0;
  double rain_mm = 0;
};
HEADRACE_STRUCT(spell, airport, start_ms, end_ms, rain_mm)

struct flight_in_spell {
  spell in;
  std::int64_t delay = 0;
};
HEADRACE_STRUCT(flight_in_spell, in, delay)

struct spell_delays {
  std::string airport;
  std::string first_day;
  std::string last_day;
  double rain_mm = 0;
  std::int64_t flights = 0;
  std::int64_t late_flights = 0; ///< by 15 minutes or more
  double mean_delay = 0;         ///< in minutes
};
HEADRACE_STRUCT(spell_delays, airport, first_day, last_day, rain_mm, flights, late_flights,
                mean_delay)

int number_at(std::string_view text, std::size_t at, std::size_t digits) {
  int out = 0;
  const auto piece = text.substr(std::min(at, text.size()), digits);
  const auto read = std::from_chars(piece.data(), piece.data() + piece.size(), out);
  if (read.ec != std::errc() || read.ptr != piece.data() + digits)
    throw std::invalid_argument("no date: " + std::string(text));
  return out;
}

/// Since the year began, of `yyyy-MM-dd` or `yyyy/MM/dd HH:mm`.
std::int64_t time_in_year_ms(std::string_view text) {
  using namespace std::chrono;
  const year of(number_at(text, 0, 4));
  const sys_days date = of / number_at(text, 5, 2) / number_at(text, 8, 2);
  milliseconds out = date - sys_days(of / January / 1);
  if (text.size() > 10)
    out += hours(number_at(text, 11, 2)) + minutes(number_at(text, 14, 2));
  return out.count();
}

/// As in a year that is no leap year.
std::string day_text(std::int64_t time_in_year) {
  using namespace std::chrono;
  const sys_days date = floor<days>(sys_days(2001y / January / 1) + milliseconds(time_in_year));
  const year_month_day of(date);
  std::array<char, 16> out{};
  std::snprintf(out.data(), out.size(), "%02u-%02u", static_cast<unsigned>(of.month()),
                static_cast<unsigned>(of.day()));
  return out.data();
}

class rain_of_spell final : public api::aggregate_function<bad_day, double, double> {
public:
  void add(const bad_day& in, double& into) override { into += in.rain_mm; }
  void merge(double& into, const double& from) override { into += from; }
  double result(const double& of) override { return of; }
};

class delays_of_spell final
    : public api::aggregate_function<flight_in_spell, spell_delays, spell_delays> {
public:
  void add(const flight_in_spell& in, spell_delays& into) override {
    into.airport = in.in.airport;
    into.first_day = day_text(in.in.start_ms);
    into.last_day = day_text(in.in.end_ms - 1);
    into.rain_mm = in.in.rain_mm;
    ++into.flights;
    into.late_flights += in.delay >= 15 ? 1 : 0;
    into.mean_delay += static_cast<double>(in.delay); // the sum, for now
  }
  void merge(spell_delays& into, const spell_delays& from) override {
    if (into.flights == 0) {
      into = from;
      return;
    }
    into.flights += from.flights;
    into.late_flights += from.late_flights;
    into.mean_delay += from.mean_delay;
  }
  spell_delays result(const spell_delays& of) override {
    auto out = of;
    out.mean_delay /= static_cast<double>(out.flights);
    return out;
  }
};

HEADRACE_JOB(env) {
  const auto year = env.arguments().get("year", "2012");

  env.set_job_name("weather delays");
  // The file has one city behind the other.
  const auto bad_days =
      env.from_source(api::file_source::csv<weather_day>(env.arguments().get("weather"))
                          .option("csv.ignore-first-line", "true"),
                      api::watermark_strategy<weather_day>::bounded_out_of_orderness(366 * day)
                          .with_timestamp_assigner(
                              [](const weather_day& in) { return time_in_year_ms(in.date); }),
                      "weather")
          .flat_map([year](const weather_day& in, api::collector<bad_day>& out) {
            if (!in.date.starts_with(year) ||
                (in.rain_mm < 5 && in.wind < 8 && in.weather != "snow"))
              return;
            if (in.location == "Seattle")
              out.emit({"SEA", time_in_year_ms(in.date), in.rain_mm});
            for (const auto* airport : {"JFK", "LGA"})
              if (in.location == "New York")
                out.emit({airport, time_in_year_ms(in.date), in.rain_mm});
          })
          .name("bad days");
  const auto flights =
      env.from_source(api::file_source::json<flight>(env.arguments().get("flights")),
                      api::watermark_strategy<flight>::monotonous().with_timestamp_assigner(
                          [](const flight& in) { return time_in_year_ms(in.date); }),
                      "flights");

  const auto spells = bad_days.key_by(&bad_day::airport)
                          .window(api::session_event_time(spell_gap))
                          .aggregate(rain_of_spell(),
                                     [](api::window_context<std::string>& context,
                                        const double& rain_mm, api::collector<spell>& out) {
                                       using std::chrono::milliseconds;
                                       const auto last_ms = context.window().end_ms -
                                                            milliseconds(spell_gap).count();
                                       out.emit({context.key(), context.window().start_ms,
                                                 last_ms + milliseconds(day).count(), rain_mm});
                                     })
                          .name("spells")
                          .uid("spells");

  spells.key_by(&spell::airport)
      .interval_join(flights.key_by(&flight::origin))
      .between(-spell_longest, 0ms)
      .process([](const spell& in, const flight& each, api::collector<flight_in_spell>& out) {
        const auto time_ms = time_in_year_ms(each.date);
        if (time_ms >= in.start_ms && time_ms < in.end_ms)
          out.emit({in, each.delay});
      })
      .name("flights of spells")
      .uid("flights-of-spells")
      // All of a spell have its time.
      .key_by([](const flight_in_spell& in) { return std::pair(in.in.airport, in.in.start_ms); })
      .window(api::tumbling_event_time(day))
      .aggregate(delays_of_spell())
      .name("delays")
      .uid("delays")
      .collect();
}
