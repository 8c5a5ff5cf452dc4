#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// Every word that means something to the parser. Reserved words are those of Flink's dialect: as
// names they need backticks. Words of functions are reserved, too, but name a function before '('.
// The other words are names wherever the grammar wants no keyword.

// clang-format off
#define HEADRACE_SQL_RESERVED_WORDS(X) \
  X(all) X(allocate) X(allow) X(alter) X(and) X(any) X(are) X(array) X(array_max_cardinality) \
  X(as) X(asensitive) X(asof) X(asymmetric) X(at) X(atomic) X(authorization) X(begin) \
  X(begin_frame) X(begin_partition) X(between) X(bigint) X(binary) X(bit) X(blob) X(boolean) \
  X(both) X(buckets) X(by) X(bytes) X(call) X(called) X(cascaded) X(case) X(cast) X(catalogs) \
  X(char) X(character) X(check) X(clob) X(close) X(collate) X(column) X(comment) X(commit) \
  X(condition) X(connect) X(connections) X(constraint) X(contains) X(continuous) \
  X(corresponding) X(create) X(cross) X(cube) X(current) X(current_default_transform_group) \
  X(current_path) X(current_row) X(current_transform_group_for_type) X(cursor) X(cycle) \
  X(databases) X(date) X(datetime) X(day) X(deallocate) X(dec) X(decimal) X(declare) X(default) \
  X(define) X(delete) X(deref) X(describe) X(deterministic) X(disallow) X(disconnect) \
  X(distinct) X(distributed) X(distribution) X(double) X(drop) X(dynamic) X(each) X(else) \
  X(empty) X(end) X(end_frame) X(end_partition) X(equals) X(escape) X(every) X(except) X(exec) \
  X(execute) X(exists) X(explain) X(extend) X(extended) X(external) X(false) X(fetch) X(filter) \
  X(float) X(for) X(foreign) X(frame_row) X(free) X(freshness) X(friday) X(from) X(full) \
  X(function) X(functions) X(fusion) X(get) X(global) X(grant) X(group) X(groups) X(hash) \
  X(having) X(hold) X(hour) X(identity) X(import) X(in) X(indicator) X(initial) X(inner) \
  X(inout) X(insensitive) X(insert) X(int) X(integer) X(intersect) X(intersection) X(interval) \
  X(into) X(is) X(join) X(json_scope) X(language) X(large) X(lateral) X(leading) X(left) \
  X(like) X(like_regex) X(limit) X(local) X(match) X(match_condition) X(match_recognize) \
  X(matches) X(materialized) X(measure) X(measures) X(member) X(merge) X(method) X(minus) \
  X(minute) X(models) X(modifies) X(modify) X(module) X(modules) X(monday) X(month) X(multiset) \
  X(national) X(natural) X(nchar) X(nclob) X(new) X(next) X(no) X(none) X(normalize) X(not) \
  X(null) X(numeric) X(occurrences_regex) X(of) X(offset) X(old) X(omit) X(on) X(one) X(only) \
  X(open) X(or) X(order) X(ordinal) X(out) X(outer) X(over) X(overlaps) X(parameter) \
  X(partition) X(pattern) X(per) X(percent) X(period) X(permute) X(portion) X(position_regex) \
  X(precedes) X(precision) X(prepare) X(primary) X(procedure) X(procedures) X(qualify) X(range) \
  X(raw) X(reads) X(real) X(recursive) X(ref) X(references) X(referencing) X(refresh) \
  X(refresh_mode) X(release) X(rename) X(reset) X(result) X(resume) X(return) X(returns) \
  X(revoke) X(right) X(rollback) X(rollup) X(row) X(rows) X(running) X(safe_cast) \
  X(safe_offset) X(safe_ordinal) X(saturday) X(savepoint) X(scala) X(scope) X(scroll) X(search) \
  X(second) X(seek) X(select) X(sensitive) X(set) X(show) X(similar) X(skip) X(smallint) \
  X(some) X(specific) X(specifictype) X(sql) X(sqlexception) X(sqlstate) X(sqlwarning) X(start) \
  X(static) X(stream) X(string) X(structured) X(submultiset) X(subset) X(substring_regex) \
  X(succeeds) X(sunday) X(suspend) X(symmetric) X(system) X(system_time) X(table) X(tables) \
  X(tablesample) X(then) X(thursday) X(time) X(timestamp) X(timestamp_ltz) X(timezone_hour) \
  X(timezone_minute) X(tinyint) X(to) X(trailing) X(translate_regex) X(translation) X(treat) \
  X(trigger) X(true) X(tuesday) X(uescape) X(union) X(unique) X(unknown) X(unnest) X(update) \
  X(upsert) X(use) X(user) X(using) X(value) X(value_of) X(values) X(varbinary) X(varchar) \
  X(varying) X(versioning) X(views) X(watermark) X(watermarks) X(wednesday) X(when) X(whenever) \
  X(where) X(window) X(with) X(within) X(without) X(year)

#define HEADRACE_SQL_FUNCTION_WORDS(X) \
  X(abs) X(avg) X(cardinality) X(ceil) X(ceiling) X(char_length) X(character_length) \
  X(classifier) X(coalesce) X(collect) X(convert) X(corr) X(count) X(covar_pop) X(covar_samp) \
  X(cume_dist) X(current_catalog) X(current_date) X(current_role) X(current_schema) \
  X(current_time) X(current_timestamp) X(current_user) X(dense_rank) X(element) X(exp) \
  X(extract) X(first_value) X(floor) X(grouping) X(json_array) X(json_arrayagg) X(json_exists) \
  X(json_object) X(json_objectagg) X(json_query) X(json_value) X(lag) X(last_value) X(lead) \
  X(ln) X(localtime) X(localtimestamp) X(lower) X(match_number) X(max) X(min) X(mod) \
  X(nth_value) X(ntile) X(nullif) X(octet_length) X(overlay) X(percent_rank) X(percentile_cont) \
  X(percentile_disc) X(position) X(power) X(prev) X(rank) X(regr_avgx) X(regr_avgy) \
  X(regr_count) X(regr_intercept) X(regr_r2) X(regr_slope) X(regr_sxx) X(regr_sxy) X(regr_syy) \
  X(row_number) X(session_user) X(sqrt) X(stddev_pop) X(stddev_samp) X(substring) X(sum) \
  X(system_user) X(translate) X(trim) X(trim_array) X(truncate) X(try_cast) X(upper) X(var_pop) \
  X(var_samp) X(width_bucket)

#define HEADRACE_SQL_FREE_WORDS(X) \
  X(absent) X(add) X(advice) X(after) X(aggregate) X(analyze) X(asc) X(bitmap) X(cascade) X(catalog) \
  X(century) X(changelog_mode) X(columns) X(compile) X(compute) X(conditional) X(conflict) \
  X(connection) X(connector) X(connectors) X(constraints) X(cpp) X(data) X(database) X(days) \
  X(decade) X(deduplicate) X(desc) X(descriptor) X(do) X(dow) X(doy) X(drain) X(encoding) \
  X(enforced) X(epoch) X(error) X(estimated_cost) X(exclude) X(excluding) X(exit) X(final) X(first) \
  X(following) X(generated) X(hours) X(if) X(ignore) X(ilike) X(including) X(isodow) X(isoyear) \
  X(jar) X(jars) X(java) X(job) X(jobs) X(json) X(json_execution_plan) X(key) X(keys) X(last) \
  X(load) X(lua) X(map) X(metadata) X(microsecond) X(millennium) X(millisecond) X(minutes) \
  X(model) X(months) X(name) X(nanosecond) X(nothing) X(nulls) X(object) X(options) \
  X(ordinality) X(overwrite) X(overwriting) X(partitioned) X(partitions) X(passing) X(past) \
  X(placing) X(plan) X(plan_advice) X(plans) X(preceding) X(python) X(quarter) X(quarters) X(quit) \
  X(remove) X(replace) X(respect) X(restrict) X(returning) X(rlike) X(scalar) X(schema) \
  X(seconds) X(sets) X(statement) X(statistics) X(stop) X(temporary) X(ties) X(timestampadd) \
  X(timestampdiff) X(type) X(unbounded) X(unconditional) X(unload) X(utf8) X(variant) X(view) \
  X(virtual) X(week) X(weeks) X(wrapper) X(years) X(zone)
// clang-format on

namespace headrace::sql {

/// The words by number; `kw::none` for a name that is no keyword. A trailing underscore keeps them
/// apart from the words of C++.
namespace kw {
enum word : std::uint16_t {
  none = 0,
#define HEADRACE_WORD(name) name##_,
  HEADRACE_SQL_RESERVED_WORDS(HEADRACE_WORD) reserved_end,
  HEADRACE_SQL_FUNCTION_WORDS(HEADRACE_WORD) function_end,
  HEADRACE_SQL_FREE_WORDS(HEADRACE_WORD) free_end,
#undef HEADRACE_WORD
};
} // namespace kw

/// Finds a word in any case; `kw::none` when it is no keyword.
kw::word find_keyword(std::string_view text);
/// The word in capitals, as errors show it.
std::string_view text_of(kw::word keyword);
/// As a name it needs backticks.
constexpr bool is_reserved(kw::word keyword) {
  return keyword != kw::none && keyword < kw::function_end && keyword != kw::reserved_end;
}
/// Reserved, yet the name of a function before '('. Some, such as LEFT, mean something else
/// elsewhere.
bool may_name_function(kw::word keyword);

} // namespace headrace::sql
