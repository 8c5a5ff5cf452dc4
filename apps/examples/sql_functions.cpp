// Functions of SQL in C++: a library, of which a script makes them; see docs/functions.md.
//
//     CREATE FUNCTION levenshtein AS 'levenshtein' LANGUAGE CPP
//       USING LIBRARY 'build/apps/examples/libsql_functions.so';

#include "libgraph/api/headrace.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <vector>

namespace api = headrace::api;

/// How many letters must change, come or go to make one text of the other. A value of a row.
class levenshtein_distance {
public:
  std::int64_t operator()(std::string_view one, std::string_view other) {
    row_.resize(other.size() + 1);
    std::iota(row_.begin(), row_.end(), std::int64_t{0});
    for (std::size_t i = 0; i < one.size(); ++i) {
      auto diagonal = row_[0]++;
      for (std::size_t k = 0; k < other.size(); ++k) {
        const auto changed = diagonal + (one[i] == other[k] ? 0 : 1);
        diagonal = row_[k + 1];
        row_[k + 1] = std::min({changed, diagonal + 1, row_[k] + 1});
      }
    }
    return row_.back();
  }

private:
  std::vector<std::int64_t> row_; ///< kept from row to row
};
HEADRACE_SCALAR_FUNCTION(levenshtein, levenshtein_distance())

/// The way between two places on the globe, in kilometres. Takes many rows at once.
void great_circle(const api::argument_column<double>& latitude,
                  const api::argument_column<double>& longitude,
                  const api::argument_column<double>& to_latitude,
                  const api::argument_column<double>& to_longitude,
                  api::result_column<double>& out) {
  constexpr double diameter_km = 2 * 6371.0088;
  constexpr double radians = 0.017453292519943295;
  const auto haversine = [](double angle) { return std::pow(std::sin(angle / 2), 2); };
  const auto from = latitude.values();
  const auto to = to_latitude.values();
  for (std::size_t i = 0; i < latitude.size(); ++i) {
    const auto east = (to_longitude[i] - longitude[i]) * radians;
    const auto part = haversine((to[i] - from[i]) * radians) +
                      std::cos(from[i] * radians) * std::cos(to[i] * radians) * haversine(east);
    out.append(diameter_km * std::asin(std::sqrt(part)));
  }
}
HEADRACE_SCALAR_FUNCTION(great_circle, great_circle)

struct placed_word {
  std::string_view word;
  std::int64_t place = 0; ///< from 1
};
HEADRACE_STRUCT(placed_word, word, place)

/// The words of a text. Rows of a row.
void split_words(std::string_view text, api::collector<placed_word>& out) {
  std::int64_t place = 0;
  while (!text.empty()) {
    const auto size = std::min(text.find(' '), text.size());
    if (size > 0)
      out.emit({text.substr(0, size), ++place});
    text.remove_prefix(std::min(text.size(), size + 1));
  }
}
HEADRACE_TABLE_FUNCTION(split_words, split_words)

/// The geometric mean of positive numbers. A value of a group's rows.
struct geometric_mean {
  struct group {
    double logarithms = 0;
    std::int64_t count = 0;
  };
  void accumulate(group& to, double value) {
    to.logarithms += std::log(value);
    ++to.count;
  }
  void retract(group& from, double value) {
    from.logarithms -= std::log(value);
    --from.count;
  }
  void merge(group& into, const group& other) {
    into.logarithms += other.logarithms;
    into.count += other.count;
  }
  std::optional<double> result(const group& of) {
    if (of.count == 0)
      return std::nullopt;
    return std::exp(of.logarithms / static_cast<double>(of.count));
  }
};
HEADRACE_AGGREGATE_FUNCTION(geometric_mean, geometric_mean())
