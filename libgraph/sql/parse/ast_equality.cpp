#include "libgraph/sql/parse/query_ast.hpp"

// Comparisons that need the whole of types which contain each other.
namespace headrace::sql {

bool operator==(const operation& left, const operation& right) {
  return left.kind == right.kind && left.operands == right.operands;
}
bool operator==(const in_list& left, const in_list& right) {
  return left.is_negated == right.is_negated && left.value == right.value &&
         left.items == right.items;
}
bool operator==(const quantified_comparison& left, const quantified_comparison& right) {
  return left.kind == right.kind && left.is_all == right.is_all && left.value == right.value &&
         left.items == right.items && left.rows == right.rows;
}
bool operator==(const case_expression& left, const case_expression& right) {
  return left.operand == right.operand && left.branches == right.branches &&
         left.otherwise == right.otherwise;
}
bool operator==(const table_argument& left, const table_argument& right) {
  return left.table == right.table && left.rows == right.rows &&
         left.partition_by == right.partition_by && left.order_by == right.order_by;
}
bool operator==(const function_call& left, const function_call& right) {
  return left.function == right.function && left.is_bare == right.is_bare &&
         left.is_distinct == right.is_distinct && left.arguments == right.arguments &&
         left.within_group == right.within_group && left.filter == right.filter &&
         left.nulls == right.nulls && left.over == right.over;
}
bool operator==(const json_call& left, const json_call& right) {
  return left.function == right.function && left.arguments == right.arguments &&
         left.pairs == right.pairs && left.returning == right.returning &&
         left.on_empty == right.on_empty && left.on_error == right.on_error &&
         left.wrapper == right.wrapper && left.nulls == right.nulls && left.filter == right.filter;
}
bool operator==(const row_constructor& left, const row_constructor& right) {
  return left.is_explicit == right.is_explicit && left.items == right.items;
}
bool operator==(const collection_constructor& left, const collection_constructor& right) {
  return left.kind == right.kind && left.items == right.items && left.rows == right.rows;
}
bool operator==(const grouping& left, const grouping& right) {
  return left.written == right.written && left.expressions == right.expressions &&
         left.elements == right.elements;
}
bool operator==(const select& left, const select& right) {
  return left.hints == right.hints && left.is_distinct == right.is_distinct &&
         left.items == right.items && left.from == right.from && left.where == right.where &&
         left.has_group_by == right.has_group_by && left.group_by == right.group_by &&
         left.having == right.having && left.windows == right.windows &&
         left.qualify == right.qualify;
}
bool operator==(const set_operation& left, const set_operation& right) {
  return left.kind == right.kind && left.is_all == right.is_all && left.operands == right.operands;
}
bool operator==(const row_pattern& left, const row_pattern& right) {
  return left.written == right.written && left.variable == right.variable &&
         left.parts == right.parts && left.repeat_min == right.repeat_min &&
         left.repeat_max == right.repeat_max && left.is_quantified == right.is_quantified &&
         left.is_reluctant == right.is_reluctant;
}

} // namespace headrace::sql
