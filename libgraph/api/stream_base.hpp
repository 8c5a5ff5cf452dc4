#pragma once

#include "libgraph/api/collector.hpp"
#include "libgraph/api/environment.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace headrace::api {

/// The untyped side of the stream classes: names a transformation of an environment's program.
/// Cheap to copy; valid as long as the environment.
class stream_base {
public:
  api::environment& environment() const { return *env_; }
  const graph::logical_type& row_type() const { return node().output_type; }
  /// For the API: the index of the transformation.
  std::int32_t index() const { return index_; }

protected:
  stream_base(api::environment& env, std::int32_t index, side_outputs_ptr sides = nullptr)
      : env_(&env), index_(index), sides_(std::move(sides)) {}

  graph::pipeline& program() const { return env_->program(); }
  graph::transformation& node() const { return program().at(index_); }

  /// Adds an operator behind this stream. @returns its index
  std::int32_t add_operator(std::string name, graph::operator_spec spec, graph::logical_type out,
                            std::vector<graph::logical_type> side_types = {}) const;
  /// Adds an operator of two inputs behind this stream and another one. @returns its index
  /// @throws graph::failure  (invalid_graph) the other one is of another environment
  std::int32_t add_co_operator(const stream_base& second, std::string name,
                               graph::co_process_spec spec, graph::logical_type out) const;
  std::int32_t add_partition(graph::partitioner_kind kind,
                             std::vector<std::int32_t> key_columns = {},
                             graph::function_ref function = {}) const;
  std::int32_t add_union(const std::vector<std::int32_t>& inputs) const;
  std::int32_t add_sink(graph::connector_spec connector, std::string name) const;
  /// Adds the side output of a tag; a wider row is cut to the columns of `type`.
  /// @throws graph::failure  the operator has no side outputs
  std::int32_t add_side_output(const std::string& tag, type_key key,
                               const graph::logical_type& type) const;
  /// Leaves out columns behind the first `count`. @returns this stream's index when there are none
  std::int32_t add_leading_columns(std::size_t count) const;

  // Settings of the operator. @throws graph::failure  (invalid_graph) this stream is no operator's
  // but a union, a partitioning or a side output
  void put_uid(std::string uid) const;
  void put_name(std::string name) const;
  void put_parallelism(std::int32_t parallelism) const;
  void put_max_parallelism(std::int32_t max_parallelism) const;
  void put_slot_sharing_group(std::string group) const;
  void put_chaining(graph::chaining_policy policy) const;

private:
  graph::transformation& own_operator(const char* setting) const;

  api::environment* env_;
  std::int32_t index_;

protected:
  side_outputs_ptr sides_; ///< of the operator that gives this stream; null: it can have none
};

/// The end of a stream.
class stream_sink : public stream_base {
public:
  stream_sink(api::environment& env, std::int32_t index) : stream_base(env, index) {}
  stream_sink uid(std::string uid) const { return put_uid(std::move(uid)), *this; }
  stream_sink name(std::string name) const { return put_name(std::move(name)), *this; }
  stream_sink set_parallelism(std::int32_t parallelism) const {
    return put_parallelism(parallelism), *this;
  }
  stream_sink slot_sharing_group(std::string group) const {
    return put_slot_sharing_group(std::move(group)), *this;
  }
  stream_sink disable_chaining() const {
    return put_chaining(graph::chaining_policy::never), *this;
  }
};

} // namespace headrace::api
