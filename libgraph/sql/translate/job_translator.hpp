#pragma once

#include "libgraph/connector/registry.hpp"
#include "libgraph/sql/plan/logical_plan.hpp"
#include "libgraph/sql/translate/option_places.hpp"
#include "libgraph/sql/translate/stream_tables.hpp"
#include "libgraph/transformation/pipeline.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headrace::sql {

/// How the collected rows of a query become what is shown: the job gives them in any order.
struct shown_rows {
  std::vector<sort_key> order; ///< by columns of what is collected
  std::optional<std::int64_t> limit;
  std::int64_t offset = 0;
  std::vector<std::size_t> columns; ///< of what is collected, in the order that is shown
  /// Of what is collected: names the row that is meant where one is taken back that differs from
  /// what was given. Nothing: rows are what all their values are.
  std::optional<std::vector<std::size_t>> key;
  std::vector<std::string> names; ///< of those
};

struct translated_job {
  graph::pipeline program;
  std::optional<shown_rows> shown;   ///< of a query; nothing for INSERTs
  std::vector<std::string> warnings; ///< what is to be said of a job that runs
};

/// What becomes of texts and bytes that have another length than a table's column.
enum class length_enforcer : std::uint8_t { ignore, trim_pad, error };

struct translation_settings {
  bool is_batch = false;            ///< tables that do not end, or are updated, are refused
  std::string time_zone = "UTC";    ///< of the session
  std::int64_t idle_timeout_ms = 0; ///< of sources with watermarks; 0: never idle
  bool drops_null = false; ///< rows with NULL for a column that is NOT NULL; else they fail the job
  length_enforcer lengths = length_enforcer::ignore;
  bool refuses_unsteady = false; ///< else rows that are taken back may differ, which is warned of
  stream_tables* streams = nullptr;      ///< of the program around; null: there is none
  const option_places* places = nullptr; ///< of the script around; null: they are not known
};

/// Makes the operators of optimized plans, one job of all. What is equal in several is computed
/// once. What no operator runs yet is a finding, with its place.
std::optional<translated_job> translate(const std::vector<plan_node>& sinks,
                                        const graph::connector_registry& connectors,
                                        const translation_settings& settings,
                                        std::vector<diagnostic>& findings);

/// The same behind what the program has already: `settings.streams` are operators of it.
/// @returns whether all is well; else nothing is added
bool translate_into(graph::pipeline& program, const std::vector<plan_node>& sinks,
                    const graph::connector_registry& connectors,
                    const translation_settings& settings, std::vector<diagnostic>& findings);

} // namespace headrace::sql
