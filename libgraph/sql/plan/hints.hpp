#pragma once

#include "libgraph/sql/parse/query_ast.hpp"
#include "libgraph/sql/parse/source_text.hpp"
#include "libgraph/sql/plan/logical_plan.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::sql {

/// The hints of one SELECT, by the tables that they name: by alias, or the last part of the name.
/// One thread.
///
///     STATE_TTL('a' = '1 d', …)                  of the state that a join or GROUP BY has of a
///     table BROADCAST(a, …)                            a small table is where each row of the
///     other is SKEW('table' = 'a', 'column' = 'k'[, 'buckets' = '16'])   rows of few keys are
///     spread
///
/// SHUFFLE_HASH, SHUFFLE_MERGE, NEST_LOOP and LOOKUP are known, and change nothing in a stream.
class select_hints {
public:
  static constexpr std::int64_t broadcast_buckets = 64;
  static constexpr std::int64_t skew_buckets = 16;

  /// What is wrong with the hints themselves is among the findings; then `is_sound` is false.
  select_hints(const std::vector<hint>& given, std::vector<diagnostic>& findings);
  bool is_sound() const { return is_sound_; }

  /// Takes what is said of a join of two tables; an empty name is that of no table.
  /// @returns false after a finding: a join whose rows cannot be spread so
  bool apply(join_node& join, std::string_view left, std::string_view right,
             const std::vector<plan_column>& columns, std::size_t left_count, source_span at);
  /// Takes what is said of GROUP BY, or DISTINCT, over one table.
  void apply(aggregate_node& groups, std::string_view table);
  /// Tells of what named no table. @returns false then
  bool check_used();

private:
  enum class kind : std::uint8_t { ttl, broadcast, skew };
  struct wish {
    kind what = kind::ttl;
    std::string table;
    std::string column;      ///< of skew
    std::int64_t number = 0; ///< milliseconds, or buckets
    source_span at;
    bool is_used = false;
  };
  void refuse(std::string message, source_span at);
  void take(const hint& from);
  void take_ttl(const hint& from);
  void take_skew(const hint& from);
  wish* find(kind what, std::string_view table);
  bool spread(join_node& join, const wish& by, std::size_t small_side, source_span at);

  std::vector<diagnostic>& findings_;
  std::vector<wish> wishes_;
  bool is_sound_ = true;
};

/// Checks hints of a table: only OPTIONS. @returns false after a finding
bool check_table_hints(const std::vector<hint>& given, std::vector<diagnostic>& findings);

} // namespace headrace::sql
