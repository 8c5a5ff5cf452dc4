#include "libgraph/sql/translate/translator.hpp"

// DISTINCT in two steps: by value, so that rows of one key are spread, then by key.
namespace headrace::sql {
namespace {

/// What sums up the results of a call.
std::string summed_by(const std::string& function) {
  return function == "MIN" || function == "MAX" ? function : "SUM";
}

} // namespace

std::int32_t job_translator::add_split(std::int32_t input, logical_type& type,
                                       graph::group_aggregate_spec& rest,
                                       const logical_type& results, const plan_node& plan) {
  // State lies by it: its name tells how, and so whether a restored one fits.
  const logical_type::field bucket{"$bucket of " + std::to_string(plan.traits.split_buckets),
                                   logical_type::integer().not_null(),
                                   {}};
  auto fields = type.fields();
  fields.push_back(bucket);
  const auto bucket_at = static_cast<std::int32_t>(type.child_count());
  type = logical_type::row(fields).not_null();
  graph::salt_spec salt;
  salt.columns = {static_cast<std::int32_t>(*plan.traits.split_column)};
  salt.buckets = static_cast<std::int32_t>(plan.traits.split_buckets);
  input = add("to a bucket", std::move(salt), {input}, type);

  auto first = rest;
  first.key_columns.push_back(bucket_at);
  first.emits_update_before = true;
  const auto keys = rest.key_columns.size();
  fields = results.fields();
  fields.insert(fields.begin() + static_cast<std::ptrdiff_t>(keys), bucket);
  const auto keyed = partition(input, type, first.key_columns);
  type = logical_type::row(std::move(fields)).not_null();
  const auto made = add("group aggregate by value", std::move(first), {keyed}, type);

  rest.key_columns = numbers(first_numbers(keys));
  rest.input_retracts = true;
  for (std::size_t i = 0; i < rest.calls.size(); ++i)
    rest.calls[i] = {summed_by(rest.calls[i].function), {static_cast<std::int32_t>(keys + 1 + i)}};
  return made;
}

} // namespace headrace::sql
