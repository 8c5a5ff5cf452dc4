#pragma once

#include "libgraph/connector/format.hpp"
#include "libactors/base/file_system.hpp"
#include "libactors/base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace headrace::nexmark {

/// Which query, over which events, into what.
struct script_options {
  std::string query;          ///< "q0" … "q23", "p0" … "p3"
  std::string input;          ///< the directory that `generate` wrote; empty: made while reading
  std::string output;         ///< a directory for the results; empty: they are forgotten
  graph::option_map settings; ///< of the source: `nexmark`, with an input `filesystem`
};

/// What `generate` writes into a directory.
namespace file_names {
constexpr std::string_view json = "events.json";
constexpr std::string_view csv = "events.csv";
constexpr std::string_view side_input = "side_input.csv";
} // namespace file_names

/// The queries there are, in their order.
std::vector<std::string> query_names();

/// CREATE TABLE and INSERT of a query, with the tables that it reads, ready to be run.
/// @errors bad_usage  names the query, option or file that is missing
result<std::string> make_script(const script_options& options, file_system& files);

} // namespace headrace::nexmark
