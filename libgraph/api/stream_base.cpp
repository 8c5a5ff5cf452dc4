#include "libgraph/api/stream_base.hpp"

#include "libgraph/function/failure.hpp"

#include <numeric>

namespace headrace::api {
namespace {

void check_parallelism(const char* what, std::int32_t value) {
  if (value < 1 || value > graph::max_parallelism_limit)
    throw graph::failure({errc::invalid_graph,
                          std::string(what) + " out of range: " + std::to_string(value) +
                              ", allowed 1 to " + std::to_string(graph::max_parallelism_limit)});
}

} // namespace

std::int32_t stream_base::add_operator(std::string name, graph::operator_spec spec,
                                       graph::logical_type out,
                                       std::vector<graph::logical_type> side_types) const {
  graph::transformation added;
  added.name = std::move(name);
  added.inputs = {index_};
  added.output_type = std::move(out);
  added.call = graph::operator_call{std::move(spec), std::move(side_types)};
  return program().add(std::move(added));
}

std::int32_t stream_base::add_co_operator(const stream_base& second, std::string name,
                                          graph::co_process_spec spec,
                                          graph::logical_type out) const {
  if (&second.environment() != env_)
    throw graph::failure({errc::invalid_graph, "streams of two environments are connected"});
  const auto added = add_operator(std::move(name), std::move(spec), std::move(out));
  program().at(added).inputs.push_back(second.index());
  return added;
}

std::int32_t stream_base::add_partition(graph::partitioner_kind kind,
                                        std::vector<std::int32_t> key_columns,
                                        graph::function_ref function) const {
  graph::transformation added;
  added.name = "partition";
  added.inputs = {index_};
  added.output_type = node().output_type;
  added.call = graph::partition_call{{kind, std::move(key_columns), function}};
  return program().add(std::move(added));
}

std::int32_t stream_base::add_union(const std::vector<std::int32_t>& inputs) const {
  graph::transformation added;
  added.name = "union";
  added.inputs = inputs;
  added.output_type = node().output_type;
  added.call = graph::union_call{};
  return program().add(std::move(added));
}

std::int32_t stream_base::add_sink(graph::connector_spec connector, std::string name) const {
  return add_operator(std::move(name), graph::sink_spec{std::move(connector)}, node().output_type);
}

std::int32_t stream_base::add_side_output(const std::string& tag, type_key key,
                                          const graph::logical_type& type) const {
  if (sides_ == nullptr)
    throw graph::failure(
        {errc::invalid_graph,
         "side output \"" + tag + "\" of an operator that has none: " + node().name});
  const auto side = sides_->add(tag, key);
  auto& types = std::get<graph::operator_call>(node().call).side_types;
  if (side == types.size())
    types.push_back(type);
  graph::transformation added;
  added.name = "side output " + tag;
  added.inputs = {index_};
  added.output_type = types[side];
  added.call = graph::side_output_call{static_cast<std::int32_t>(side)};
  const stream_base whole(*env_, program().add(std::move(added)));
  return whole.add_leading_columns(type.child_count());
}

std::int32_t stream_base::add_leading_columns(std::size_t count) const {
  const auto& fields = node().output_type.fields();
  if (fields.size() == count)
    return index_;
  std::vector<graph::logical_type::field> kept(fields.begin(),
                                               fields.begin() + static_cast<std::ptrdiff_t>(count));
  std::vector<std::int32_t> columns(count);
  std::iota(columns.begin(), columns.end(), 0);
  return add_operator("project", graph::project_spec{std::move(columns)},
                      graph::logical_type::row(std::move(kept)).not_null());
}

graph::transformation& stream_base::own_operator(const char* setting) const {
  auto& own = node();
  if (!std::holds_alternative<graph::operator_call>(own.call))
    throw graph::failure({errc::invalid_graph, std::string(setting) + " set on \"" + own.name +
                                                   "\", which is no operator of its own"});
  return own;
}

void stream_base::put_uid(std::string uid) const { own_operator("uid").uid = std::move(uid); }

void stream_base::put_name(std::string name) const { own_operator("name").name = std::move(name); }

void stream_base::put_parallelism(std::int32_t parallelism) const {
  check_parallelism("parallelism", parallelism);
  own_operator("parallelism").parallelism = parallelism;
}

void stream_base::put_max_parallelism(std::int32_t max_parallelism) const {
  check_parallelism("max parallelism", max_parallelism);
  own_operator("max parallelism").max_parallelism = max_parallelism;
}

void stream_base::put_slot_sharing_group(std::string group) const {
  own_operator("slot sharing group").slot_sharing_group = std::move(group);
}

void stream_base::put_chaining(graph::chaining_policy policy) const {
  own_operator("chaining").chaining = policy;
}

} // namespace headrace::api
