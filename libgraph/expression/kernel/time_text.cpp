#include "libgraph/expression/kernel/calendar.hpp"
#include "libgraph/expression/kernel/date_pattern.hpp"
#include "libgraph/expression/kernel/lenient_time.hpp"
#include "libgraph/expression/kernel/map.hpp"
#include "libgraph/expression/kernel/time_zone.hpp"
#include "libgraph/types/value_text.hpp"

#include <limits>
#include <memory>

// Times from texts and to texts.
namespace headrace::graph {
namespace {

using text = std::string_view;

constexpr text usual_pattern = "yyyy-MM-dd HH:mm:ss";

/// The pattern of an argument: made once when it is a constant or not given, else when it changes.
class pattern_source {
public:
  /// @errors type_mismatch  a constant that is no pattern
  static result<std::shared_ptr<pattern_source>> of(const kernel_request& request,
                                                    std::size_t argument, text usual) {
    auto out = std::make_shared<pattern_source>();
    const bool is_given = argument < request.arguments.size();
    if (is_given && request.arguments[argument].physical() != physical_type::string)
      return unfit(request);
    if (is_given && request.constants[argument] == nullptr)
      return out;
    HEADRACE_CHECK(out->make(is_given ? request.constants[argument]->string_at(0) : usual));
    return out;
  }
  /// nullptr: it is no pattern.
  const date_pattern* find(text pattern) {
    if (!made_ || pattern != last_) {
      made_.reset();
      last_.clear();
      if (!make(pattern))
        return nullptr;
    }
    return &*made_;
  }

private:
  status make(text pattern) {
    HEADRACE_TRY(made_, date_pattern::compile(pattern));
    last_ = pattern;
    return {};
  }

  std::string last_;
  std::optional<date_pattern> made_;
};

/// A point of a text by its usual form, in nanoseconds by the clock that is shown.
std::optional<int128> read_usual(text from) {
  const auto read = read_point(from);
  if (!read)
    return std::nullopt;
  return int128{read->seconds} * 1'000'000'000 + read->nanos;
}
/// By a pattern, else by the usual form.
std::optional<int128> read_by(const date_pattern& pattern, text from) {
  const auto read = pattern.parse(from);
  return read ? read : read_usual(from);
}
/// By a pattern that the text may go on behind.
std::optional<int128> read_begin(const date_pattern& pattern, text from) {
  return pattern.parse_begin(from);
}

std::int64_t to_millis(int128 nanos) {
  const auto millis = nanos / nanos_per_milli;
  return static_cast<std::int64_t>(nanos % nanos_per_milli < 0 ? millis - 1 : millis);
}

/// What `convert` makes of the point that a text names, by the pattern behind it or the usual one;
/// it is given nothing for a text that names none.
template <class R, class Read, class Convert>
result<kernel> make_reader(const kernel_request& request, Read read, Convert convert) {
  const auto count = request.arguments.size();
  if (count < 1 || count > 2 || request.arguments[0].physical() != physical_type::string)
    return unfit(request);
  HEADRACE_TRY(auto patterns, pattern_source::of(request, 1, usual_pattern));
  if (count == 1)
    return kernel([read, convert, patterns](kernel_frame& frame) {
      const auto& pattern = *patterns->find(usual_pattern);
      return map_rows<R, text>(
          frame, [&](text from) -> std::optional<R> { return convert(read(pattern, from)); });
    });
  return kernel([read, convert, patterns](kernel_frame& frame) {
    return map_rows<R, text, text>(frame, [&](text from, text wanted) -> std::optional<R> {
      const auto* pattern = patterns->find(wanted);
      return convert(pattern != nullptr ? read(*pattern, from) : std::nullopt);
    });
  });
}

result<kernel> make_to_timestamp(const kernel_request& request) {
  if (request.type.physical() != physical_type::int64)
    return unfit(request);
  return make_reader<std::int64_t>(request, read_by, [](std::optional<int128> nanos) {
    return nanos ? std::optional(to_millis(*nanos)) : std::nullopt;
  });
}

result<kernel> make_to_date(const kernel_request& request) {
  if (request.type.root() != type_root::date)
    return unfit(request);
  if (request.arguments.size() == 1 && request.arguments[0].physical() == physical_type::string)
    return kernel(
        [](kernel_frame& frame) { return map_rows<std::int32_t, text>(frame, read_date); });
  return make_reader<std::int32_t>(
      request, read_begin, [](std::optional<int128> nanos) -> std::optional<std::int32_t> {
        if (!nanos)
          return std::nullopt;
        return static_cast<std::int32_t>(floor_divide(to_millis(*nanos), millis_per_day));
      });
}

/// Seconds of a text by the session's clocks; the least number when it is no time.
result<kernel> make_unix_timestamp(const kernel_request& request) {
  if (request.type.physical() != physical_type::int64)
    return unfit(request);
  if (request.arguments.empty())
    return kernel([](kernel_frame& frame) {
      return map_rows<std::int64_t>(frame, [&] { return floor_divide(frame.now_ms, 1000); });
    });
  return make_reader<std::int64_t>(
      request, read_begin,
      [zone = request.zone](std::optional<int128> nanos) -> std::optional<std::int64_t> {
        if (!nanos)
          return std::numeric_limits<std::int64_t>::min();
        return zone->to_utc(floor_divide(to_millis(*nanos), 1000));
      });
}

/// The zone that was asked for last.
class zone_memory {
public:
  const time_zone* find(text name, kernel_frame& frame) {
    if (!made_ || name != last_) {
      auto found = time_zone::find(name);
      if (!found) {
        frame.fail("no such time zone", name);
        return nullptr;
      }
      made_ = std::move(*found);
      last_ = name;
    }
    return made_.get();
  }

private:
  std::string last_;
  std::shared_ptr<const time_zone> made_;
};

/// TO_TIMESTAMP_LTZ(text, pattern, zone)
result<kernel> make_instant_of_zone(const kernel_request& request) {
  if (request.arguments[2].physical() != physical_type::string)
    return unfit(request);
  HEADRACE_TRY(auto patterns, pattern_source::of(request, 1, usual_pattern));
  return kernel([patterns, zones = std::make_shared<zone_memory>()](kernel_frame& frame) {
    return map_rows<std::int64_t, text, text, text>(
        frame, [&](text from, text wanted, text zone) -> std::optional<std::int64_t> {
          const auto* pattern = patterns->find(wanted);
          const auto nanos = pattern != nullptr ? read_by(*pattern, from) : std::nullopt;
          const auto* of = zones->find(zone, frame);
          return nanos && of != nullptr ? std::optional(of->utc_millis(to_millis(*nanos)))
                                        : std::nullopt;
        });
  });
}

/// A text of the usual form by the clocks of one zone, as those of another show it.
result<kernel> make_convert_zone(const kernel_request& request) {
  if (request.arguments.size() != 3)
    return unfit(request);
  for (const auto& each : request.arguments)
    if (each.physical() != physical_type::string)
      return unfit(request);
  HEADRACE_TRY(const auto pattern, date_pattern::compile(usual_pattern));
  return kernel([pattern, from_zones = std::make_shared<zone_memory>(),
                 to_zones = std::make_shared<zone_memory>()](kernel_frame& frame) {
    return map_text<text, text, text>(
        frame, [&](text_result& out, text from, text from_zone, text to_zone) {
          const auto nanos = pattern.parse_begin(from);
          const auto* of = from_zones->find(from_zone, frame);
          const auto* to = to_zones->find(to_zone, frame);
          if (!nanos || of == nullptr || to == nullptr)
            return false;
          const auto local = to->local_millis(of->utc_millis(to_millis(*nanos)));
          pattern.format(int128{local} * nanos_per_milli, out.text);
          return true;
        });
  });
}

/// An instant of a number of seconds (precision 0) or milliseconds (3), or of a text.
result<kernel> make_to_instant(const kernel_request& request) {
  const auto count = request.arguments.size();
  if (count < 1 || request.type.physical() != physical_type::int64)
    return unfit(request);
  if (request.arguments[0].physical() == physical_type::string) {
    if (count == 3)
      return make_instant_of_zone(request);
    return make_reader<std::int64_t>(
        request, read_by,
        [zone = request.zone](std::optional<int128> nanos) -> std::optional<std::int64_t> {
          return nanos ? std::optional(zone->utc_millis(to_millis(*nanos))) : std::nullopt;
        });
  }
  if (request.arguments[0].root() != type_root::bigint || count > 2)
    return unfit(request);
  if (count == 1)
    return kernel([](kernel_frame& frame) {
      return map_rows<std::int64_t, std::int64_t>(frame,
                                                  [](std::int64_t millis) { return millis; });
    });
  if (request.arguments[1].root() != type_root::integer)
    return unfit(request);
  return kernel([](kernel_frame& frame) {
    return map_rows<std::int64_t, std::int64_t, std::int32_t>(
        frame, [&](std::int64_t value, std::int32_t precision) -> std::optional<std::int64_t> {
          if (precision == 3)
            return value;
          if (precision != 0) {
            frame.fail("precision is neither 0 nor 3", std::to_string(precision));
            return std::nullopt;
          }
          std::int64_t out = 0;
          return __builtin_mul_overflow(value, std::int64_t{1000}, &out) ? std::nullopt
                                                                         : std::optional(out);
        });
  });
}

template <class T, class ToNanos>
kernel make_writer(std::shared_ptr<pattern_source> patterns, bool has_pattern, ToNanos to_nanos) {
  if (!has_pattern)
    return [patterns, to_nanos](kernel_frame& frame) {
      return map_text<T>(frame, [&](text_result& out, T value) {
        const auto nanos = to_nanos(value);
        if (nanos)
          patterns->find(usual_pattern)->format(*nanos, out.text);
        return nanos.has_value();
      });
    };
  return [patterns, to_nanos](kernel_frame& frame) {
    return map_text<T, text>(frame, [&](text_result& out, T value, text wanted) {
      const auto* pattern = patterns->find(wanted);
      const auto nanos = to_nanos(value);
      if (pattern == nullptr || !nanos)
        return false;
      pattern->format(*nanos, out.text);
      return true;
    });
  };
}

/// Seconds since 1970 by the session's clocks.
result<kernel> make_from_unixtime(const kernel_request& request) {
  const auto count = request.arguments.size();
  if (count < 1 || count > 2 || request.arguments[0].root() != type_root::bigint)
    return unfit(request);
  HEADRACE_TRY(auto patterns, pattern_source::of(request, 1, usual_pattern));
  return make_writer<std::int64_t>(
      std::move(patterns), count == 2, [zone = request.zone](std::int64_t seconds) {
        return std::optional<int128>((int128{seconds} + zone->offset_at(seconds)) * 1'000'000'000);
      });
}

result<kernel> make_date_format(const kernel_request& request) {
  if (request.arguments.size() != 2)
    return unfit(request);
  HEADRACE_TRY(auto patterns, pattern_source::of(request, 1, usual_pattern));
  HEADRACE_TRY(const auto usual, date_pattern::compile(usual_pattern));
  if (request.arguments[0].physical() == physical_type::string)
    return make_writer<text>(std::move(patterns), true,
                             [usual](text from) { return usual.parse_begin(from); });
  if (request.arguments[0].physical() != physical_type::timestamp_nanos)
    return unfit(request);
  return make_writer<int128>(std::move(patterns), true,
                             [](int128 nanos) { return std::optional(nanos); });
}

constexpr kernel_entry entries[] = {
    {"CONVERT_TZ", "s", make_convert_zone, true, true},
    {"DATE_FORMAT", "fs", make_date_format},
    {"FROM_UNIXTIME", "ls", make_from_unixtime},
    {"TO_DATE", "s", make_to_date},
    {"TO_TIMESTAMP", "s", make_to_timestamp},
    {"TO_TIMESTAMP_LTZ", "h.", make_to_instant, true, true},
    {"UNIX_TIMESTAMP", "s", make_unix_timestamp, true, false, true},
};

} // namespace

std::span<const kernel_entry> time_text_kernels() { return entries; }

} // namespace headrace::graph
