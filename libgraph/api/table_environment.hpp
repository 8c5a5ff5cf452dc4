#pragma once

#include "libgraph/api/environment.hpp"
#include "libgraph/api/stream.hpp"
#include "libgraph/api/table_adaptors.hpp"
#include "libgraph/types/logical_type.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headrace::api {

class table_environment;

/// A row of a changelog: what it does to the table, and the row.
template <class T>
struct changelog_row {
  graph::row_kind kind = graph::row_kind::insert;
  T row{};
};
template <class T>
struct fields_of<changelog_row<T>> {
  static constexpr bool exists = true;
  static constexpr std::size_t size = 2;
  using types = std::tuple<graph::row_kind, T>;

  template <class Value, class Visit>
  static constexpr void for_each(Value& value, Visit&& visit) {
    visit(std::integral_constant<std::size_t, 0>(), value.kind);
    visit(std::integral_constant<std::size_t, 1>(), value.row);
  }
  static std::string name(std::size_t index) { return index == 0 ? "kind" : "row"; }
};

/// What a stream's table has beside the columns of its rows. A value.
class stream_schema {
public:
  /// A column, TIMESTAMP(3), of the rows' event time, as assign_timestamps_and_watermarks gave it;
  /// the stream's watermarks are the table's.
  stream_schema row_time(std::string column) const {
    auto out = *this;
    out.row_time_ = std::move(column);
    return out;
  }
  /// Watermarks that follow a column of the rows, or a computed one, at a distance.
  stream_schema watermark(std::string column, std::chrono::milliseconds delay) const {
    auto out = *this;
    out.watermark_ = std::move(column);
    out.delay_ = delay;
    return out;
  }
  /// A column that is computed: `column("passed", "PROCTIME()")`.
  stream_schema column(std::string name, std::string expression) const {
    auto out = *this;
    out.computed_.emplace_back(std::move(name), std::move(expression));
    return out;
  }
  /// The rows are one a key.
  stream_schema primary_key(std::vector<std::string> columns) const {
    auto out = *this;
    out.primary_key_ = std::move(columns);
    return out;
  }

private:
  friend class table_environment;
  std::string row_time_; ///< empty: none
  std::string watermark_;
  std::chrono::milliseconds delay_{0};
  std::vector<std::pair<std::string, std::string>> computed_;
  std::vector<std::string> primary_key_;
};

/// A table: of a stream, of a query, or of a connector. A description, cheap to copy; SQL of its
/// environment finds it by its name.
class table {
public:
  const std::string& name() const { return name_; }
  /// Its columns.
  const graph::logical_type& row_type() const { return row_type_; }

private:
  friend class table_environment;
  table(std::string name, graph::logical_type row_type)
      : name_(std::move(name)), row_type_(std::move(row_type)) {}

  std::string name_;
  graph::logical_type row_type_;
};

/// SQL in a job: streams become tables, tables streams, and what is between them is part of the
/// job's graph. One for a job; refers to its environment. What SQL refuses is thrown as
/// `graph::failure` with the words and the place.
///
///     HEADRACE_JOB(env) {
///       api::table_environment tables(env);
///       tables.create_temporary_view("orders", env.from_source(…));
///       const auto sums = tables.sql_query("SELECT customer, SUM(amount) AS total FROM orders "
///                                          "GROUP BY customer");
///       tables.to_changelog_stream<sum>(sums).print();
///     }
class table_environment {
public:
  /// `env` outlives it.
  explicit table_environment(environment& env);
  ~table_environment();
  table_environment(const table_environment&) = delete;
  table_environment& operator=(const table_environment&) = delete;

  /// Runs statements, with ';' between them: CREATE, ALTER, DROP, USE, SET and RESET change what
  /// follows; the operators of INSERT and of statement sets become part of the job.
  /// @throws graph::failure  bad_usage  what SQL refuses; a query, or what only tells something
  void execute_sql(std::string_view statements);
  /// The rows of a query.
  table sql_query(std::string_view query);
  /// A table or view by its name, which may have a catalog and a database.
  table from(const std::string& name);
  /// How the rows of a query or of an INSERT would be made, as EXPLAIN tells it.
  std::string explain_sql(std::string_view statement);

  /// Makes a stream a table: a column a field, NOT NULL where the field is no std::optional.
  template <class T>
  void create_temporary_view(const std::string& name, const stream<T>& rows,
                             const stream_schema& schema = {}) {
    add_stream_table(quoted(name), rows, row_info<T>::type(), false, schema);
  }
  void create_temporary_view(const std::string& name, const table& rows);
  template <class T>
  table from_data_stream(const stream<T>& rows, const stream_schema& schema = {}) {
    const auto name = next_name("stream");
    add_stream_table(name, rows, row_info<T>::type(), false, schema);
    return from(name);
  }
  /// A table that the rows change. They come as they are to be read: of a key in their order.
  template <class T>
  table from_changelog_stream(const stream<changelog_row<T>>& rows,
                              const stream_schema& schema = {}) {
    const auto name = next_name("changelog");
    const stream<T> changes(rows.environment(),
                            add_function(rows, "changes", row_info<T>::type(),
                                         [] { return make_changes(has_fields<T>); }));
    add_stream_table(name, changes, row_info<T>::type(), true, schema);
    return from(name);
  }

  /// The rows of a table that are not updated. Fields of a struct are columns of their name, others
  /// are taken by their place; what does not fit is cast where INSERT would. A NULL for a field
  /// that is no std::optional fails the job. Rows have their event time, and watermarks.
  /// @throws graph::failure  bad_usage  a column that is missing or of another type; rows that are
  ///         updated
  template <class T>
  stream<T> to_data_stream(const table& from) {
    return stream<T>(*env_, add_result(from, row_info<T>::type(), described<T>, false));
  }
  /// The rows of a table, and what each does to those before. Behind it, rows of a key are in order
  /// as long as they stay in one subtask: key_by keeps them so, rebalance does not.
  template <class T>
  stream<changelog_row<T>> to_changelog_stream(const table& from) {
    const stream<T> changes(*env_, add_result(from, row_info<T>::type(), described<T>, true));
    return stream<changelog_row<T>>(
        *env_, add_function(changes, "changelog", row_info<changelog_row<T>>::type(),
                            [] { return make_changelog_rows(has_fields<T>); }));
  }
  /// Writes the rows of a table into another one.
  void insert_into(const std::string& name, const table& rows);

private:
  using function_maker = std::unique_ptr<graph::row_function> (*)();
  std::int32_t add_function(const stream_base& rows, const char* name, graph::logical_type type,
                            function_maker make);
  static std::string quoted(const std::string& name);
  std::string next_name(const char* kind);
  void add_stream_table(const std::string& name, const stream_base& rows,
                        const graph::logical_type& type, bool has_changes,
                        const stream_schema& schema);
  /// @returns the place of what gives the rows
  std::int32_t add_result(const table& from, const graph::logical_type& type, bool by_name,
                          bool takes_changes);

  struct parts;
  environment* env_;
  std::unique_ptr<parts> parts_;
};

} // namespace headrace::api
