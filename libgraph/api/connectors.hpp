#pragma once

#include "libgraph/api/range_source.hpp"
#include "libgraph/connector/format.hpp"
#include "libgraph/connector/sink.hpp"
#include "libgraph/connector/source.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headrace::api {

/// A source of rows of type T: a connector by name and options, or a factory of the job's own.
/// A value.
template <class T>
struct source_of {
  std::string name; ///< of the connector, and of the operator
  graph::option_map options;
  std::function<std::unique_ptr<graph::source>()> factory;
  std::int32_t parallelism = 0; ///< 0: as the job

  source_of option(std::string key, std::string value) const {
    auto out = *this;
    out.options.insert_or_assign(std::move(key), std::move(value));
    return out;
  }
};

/// A sink of rows of type T; as source_of.
template <class T>
struct sink_of {
  std::string name;
  graph::option_map options;
  std::function<std::unique_ptr<graph::sink>()> factory;

  sink_of option(std::string key, std::string value) const {
    auto out = *this;
    out.options.insert_or_assign(std::move(key), std::move(value));
    return out;
  }
};
/// A sink of whatever rows a stream has.
struct any_sink {
  std::string name;
  graph::option_map options;

  any_sink option(std::string key, std::string value) const {
    auto out = *this;
    out.options.insert_or_assign(std::move(key), std::move(value));
    return out;
  }
};

/// Reads a file, or the files of a directory.
namespace file_source {
/// Each line is a row.
inline source_of<std::string> lines(std::string path) {
  return {"file", {{"path", std::move(path)}, {"format", "lines"}}, nullptr, 0};
}
/// Columns in the order of the struct's description, without header.
template <class T>
source_of<T> csv(std::string path) {
  return {"file", {{"path", std::move(path)}, {"format", "csv"}}, nullptr, 0};
}
/// One JSON object a line, fields by name.
template <class T>
source_of<T> json(std::string path) {
  return {"file", {{"path", std::move(path)}, {"format", "json"}}, nullptr, 0};
}
} // namespace file_source

/// Writes files into a directory, exactly once under checkpoints.
namespace file_sink {
inline any_sink lines(std::string path) {
  return {"file", {{"path", std::move(path)}, {"format", "lines"}}};
}
inline any_sink csv(std::string path) {
  return {"file", {{"path", std::move(path)}, {"format", "csv"}}};
}
inline any_sink json(std::string path) {
  return {"file", {{"path", std::move(path)}, {"format", "json"}}};
}
} // namespace file_sink

/// The rows `function(0)`, `function(1)`, … below `count`, divided among the readers, at most
/// `rows_per_second` in all (0: as fast as they can be taken). Starts again where it was after a
/// failure, so the function must give the same for the same index.
template <class T, class F>
source_of<T> generator_source(F function, std::uint64_t count = unlimited,
                              double rows_per_second = 0) {
  return {"generator",
          {},
          [function = std::move(function), count, rows_per_second] {
            return std::unique_ptr<graph::source>(
                std::make_unique<function_source<T, F>>(function, count, rows_per_second));
          },
          0};
}

/// The values, in order, by one reader.
template <class T>
source_of<T> collection_source(std::vector<T> values) {
  auto shared = std::make_shared<const std::vector<T>>(std::move(values));
  auto out = generator_source<T>(
      [shared](std::uint64_t i) -> T { return (*shared)[static_cast<std::size_t>(i)]; },
      shared->size());
  out.name = "collection";
  out.parallelism = 1;
  return out;
}

} // namespace headrace::api
