#pragma once

#include "libgraph/sql/plan/logical_plan.hpp"

namespace headrace::sql {

/// The same rows by less work: all rules below, in an order that lets each profit from those
/// before.
/// @param is_batch  all tables end: operators that would update rows give final ones
plan_node optimize(plan_node plan, bool is_batch = false);

/// Of plans that are optimized and run as one job: scans of the same table are one, of all that any
/// of them reads, so that each row is read and decoded once. What each of them leaves out it leaves
/// out above, behind the watermarks, which are the same for all.
std::vector<plan_node> share_scans(std::vector<plan_node> plans);

// The rules, one by one. Each gives a plan of the same rows and columns.

/// UNION, INTERSECT and EXCEPT of distinct rows are aggregates over a UNION ALL.
plan_node expand_sets(plan_node plan);

/// A calc over a calc is one, unless that would evaluate something twice that gives two values, or
/// make expressions grow out of bounds. What only passes rows on is dropped.
plan_node merge_calcs(plan_node plan);

/// Conditions move below joins and unions, to the side that they are about. A condition over both
/// sides of an inner join becomes part of the join's.
plan_node push_filters(plan_node plan);

// Two rules of one node, over inputs that are formed already.

/// A condition on ROW_NUMBER that only the first ones fulfil makes a Top-N of its window, and a
/// deduplication of one over time. Of rows that carry their windows it is given once a window.
plan_node form_rank(plan_node plan);

/// An aggregate whose keys are the start and the end of windows is one by whole windows. Where
/// the window function is right below, and simple, it is no operator of its own.
plan_node form_window_aggregate(plan_node plan);

/// Whether the operator that finds the windows itself computes all of them.
bool are_simple(const std::vector<aggregate_item>& items);
/// The windows that a plan's rows carry, where they come from; null: none.
const window_shape* find_shape(const plan_node& plan);

/// An aggregate over rows of windows, by their start and end, is one by whole windows, too.
plan_node form_cascaded_windows(plan_node plan);

/// So many milliseconds before a time.
bound_expression earlier(bound_expression time, std::int64_t by_ms);

/// FILTER of a window's aggregates is a CASE below them, AVG a sum and a count and a division
/// above.
plan_node expand_window_items(plan_node plan);

/// Fields of rows are taken below watermarks of computed columns, so that the rows as a whole end
/// there.
plan_node push_fields(plan_node plan);

/// Where only fields of a column are read, the scan gives a row of these alone: fields that nobody
/// reads are not decoded.
plan_node narrow_rows(plan_node plan);
/// The same of one scan, whose rows only `users` read.
void narrow_scan(plan_node& scan, const std::vector<calc_node*>& users);

/// Equalities between both sides of a join are its keys, which are columns of the inputs: computed
/// below where they are more.
plan_node form_join_keys(plan_node plan);

/// A join of rows that only come, whose keys are windows or whose condition bounds the distance of
/// two times, keeps its rows no longer than that.
/// In batch mode all operators that would update rows are then made to give final ones.
plan_node form_timed_joins(plan_node plan, bool is_batch = false);

/// Columns that nobody reads are not computed, kept or decoded.
plan_node prune_columns(plan_node plan);

/// Whether the table's malformed records are rows, too, those of `dead_letter_node`: then all of a
/// record is decoded.
bool keeps_malformed(const scan_node& scan);

/// Whether no call may give another value for the same arguments, as RAND and UUID do.
bool is_deterministic(const bound_expression& in);

} // namespace headrace::sql
