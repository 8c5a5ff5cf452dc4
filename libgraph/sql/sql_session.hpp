#pragma once

#include "libgraph/catalog/catalog_store.hpp"
#include "libgraph/connector/connector_description.hpp"
#include "libgraph/sql/optimize/set_execution.hpp"
#include "libgraph/sql/parse/parser.hpp"
#include "libgraph/sql/plan/logical_plan.hpp"
#include "libgraph/sql/translate/job_translator.hpp"
#include "libgraph/user_function/native_function.hpp"
#include "libactors/base/file_system.hpp"
#include "libactors/base/option.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace headrace::sql {

struct planned_job;

/// The partitions of a table: directories, which are listed when the jobs before have written them.
struct partition_listing {
  std::string directory;                                 ///< of the table, as its options say
  std::vector<std::string> keys;                         ///< names of columns
  std::string missing;                                   ///< names the partition of NULL
  std::map<std::string, std::string, std::less<>> fixed; ///< values by key: only these
  friend bool operator==(const partition_listing&, const partition_listing&) = default;
};

/// What SHOW, DESCRIBE and EXPLAIN give: texts in columns.
struct text_table {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  /// Of EXPLAIN: what it tells of; it is well where that can be translated.
  std::shared_ptr<const planned_job> of{};
  std::optional<partition_listing> listing{}; ///< what its rows are to be read off
  friend bool operator==(const text_table&, const text_table&) = default;
};

/// What is to run as one job: plans that each end in a sink. Those without a table are shown.
struct planned_job {
  std::string name;
  std::vector<plan_node> sinks;
  configuration settings; ///< as SET by then, over those of the session's start
  /// Paths of the libraries that functions of the session lie in, by SHA-256.
  std::map<std::string, std::string> libraries;
  view_texts views = {};                         ///< that the sinks read
  std::shared_ptr<const option_places> places{}; ///< of the script around; null: not known
};

/// What a statement came to; nothing when it only changed the session.
using statement_outcome = std::variant<std::monostate, text_table, planned_job>;

/// One user's session: a catalog and settings, changed by the statements that it is given. Runs no
/// jobs itself: it plans them. A value that can be copied, to try statements out; one thread.
class sql_session {
public:
  /// @param connectors  what SHOW and DESCRIBE tell of
  /// @param files       where libraries of functions lie; outlives the session; null: there are
  /// none
  explicit sql_session(configuration settings,
                       std::vector<graph::connector_description> connectors = {},
                       headrace::file_system* files = nullptr)
      : settings_at_start_(std::move(settings)), settings_(settings_at_start_),
        connectors_(std::move(connectors)), files_(files) {}

  /// Carries a statement out. Nothing after an error, which is among the findings; then nothing has
  /// changed.
  std::optional<statement_outcome> run(const statement& from, std::vector<diagnostic>& findings);

  /// What is to be said to the one who gave the statements since the last call; no errors.
  std::vector<std::string> take_warnings() { return std::exchange(warnings_, {}); }
  /// Names the object that functions in C++ lie in whose statement names no library, by the SHA-256
  /// under which it is loaded.
  void set_own_library(std::string digest) { own_library_ = std::move(digest); }

  const graph::catalog_store& catalog() const { return catalog_; }
  const configuration& settings() const { return settings_; }

private:
  using maybe = std::optional<statement_outcome>;

  std::nullopt_t fail(diagnostic_kind kind, std::string message, source_span at);
  /// What the catalog said of it.
  maybe settle(const status& outcome, source_span at);

  maybe run_node(const query_statement& from);
  maybe run_node(const insert& from);
  maybe run_node(const statement_set& from);
  maybe run_node(const explain& from);
  maybe run_node(const create_table& from);
  maybe run_node(const create_view& from);
  maybe run_node(const create_catalog& from);
  maybe run_node(const create_database& from);
  maybe run_node(const create_function& from);
  maybe run_node(const drop& from);
  maybe run_node(const alter& from);
  maybe run_node(const set_statement& from);
  maybe run_node(const reset_statement& from);
  maybe run_node(const use& from);
  maybe run_node(const show& from);
  maybe run_node(const describe& from);
  maybe run_node(const quit_statement& /*who runs the script ends it*/) {
    return statement_outcome();
  }
  template <class T>
  maybe run_node(const T& /*compiled plans, jobs*/) {
    return fail(diagnostic_kind::unsupported, "this statement is not supported yet", at_);
  }
  maybe job_of(std::vector<plan_node> sinks, std::string name);
  /// The plans of INSERTs that run as one job; fewer after an error.
  std::vector<plan_node> plan_together(const std::vector<insert>& inserts);
  /// How the operators work, as the settings say.
  std::optional<execution_settings> execution_of_settings();
  maybe alter_view(const alter& from);
  maybe rename_relation(const alter& from);
  maybe show_create(const show& from);
  maybe show_columns(const show& from);
  maybe show_partitions(const show& from);
  maybe show_connectors(const show& from);
  maybe describe_connector(const describe& from);
  maybe describe_function(const describe& from);
  // --- users' functions (session_functions.cpp)
  maybe drop_function(const drop& from);
  maybe describe_user_function(const graph::user_function& of);
  std::optional<graph::user_function> make_function(const create_function& from);
  std::optional<graph::user_function> make_lua_function(const create_function& from);
  std::optional<graph::user_function> make_native_function(const create_function& from);
  std::optional<graph::loaded_function> find_native_function(const create_function& from);
  bool read_types(const create_function& from, graph::user_function& into);
  maybe describe_owner(const describe& from);
  maybe alter_owner(const alter& from);
  std::optional<graph::object_path> complete(const qualified_name& name);

  configuration settings_at_start_;
  configuration settings_;
  graph::catalog_store catalog_;
  std::vector<graph::connector_description> connectors_;
  std::vector<std::string> warnings_;
  headrace::file_system* files_ = nullptr;
  std::map<std::string, std::string> libraries_; ///< paths by digest
  std::string own_library_;                      ///< empty: none
  std::vector<diagnostic>* findings_ = nullptr;  ///< of the statement that runs
  source_span at_;                               ///< likewise
  view_texts views_;                             ///< that it reads
};

/// Whether SHOW … LIKE takes a name.
bool is_wanted(const show& from, std::string_view text);

/// What a whole script comes to, statement by statement, before any of its jobs has run. All errors
/// of the script are found, as far as those of one statement do not hide others.
struct planned_script {
  std::vector<statement_outcome> steps; ///< one a statement; only whole without findings
  std::vector<diagnostic> findings;
  std::vector<std::string> warnings; ///< of the session, not of the jobs
};
planned_script plan_script(std::string_view text, sql_session& session);

/// Adds the operators of a planned job to a program, as its settings say; see
/// sql::translate_into. @returns whether all is well
bool translate_into(graph::pipeline& program, const planned_job& job, stream_tables& streams,
                    const graph::connector_registry& connectors, std::vector<diagnostic>& findings);

/// The operators of a planned job, as its settings say. Nothing after an error, which is among the
/// findings.
std::optional<translated_job> translate(const planned_job& job,
                                        const graph::connector_registry& connectors,
                                        std::vector<diagnostic>& findings);

} // namespace headrace::sql
