#include "libgraph/spec/keeps_state.hpp"

#include <variant>

namespace headrace::graph {
namespace {

struct state_finder {
  bool operator()(const filter_spec& /*spec*/) const { return false; }
  bool operator()(const project_spec& /*spec*/) const { return false; }
  bool operator()(const calc_spec& /*spec*/) const { return false; }
  bool operator()(const row_function_spec& /*spec*/) const { return false; }
  bool operator()(const watermarks_spec& /*spec*/) const { return false; }
  bool operator()(const salt_spec& /*spec*/) const { return false; }
  bool operator()(const lookup_join_spec& /*spec*/) const { return false; }
  bool operator()(const correlate_spec& /*spec*/) const { return false; }
  bool operator()(const window_table_spec& spec) const {
    return spec.window.kind == window_kind::session;
  }
  bool operator()(const group_aggregate_spec& spec) const {
    return spec.phase != aggregate_phase::local;
  }
  template <class T>
  bool operator()(const T& /*others*/) const {
    return true;
  }
};

} // namespace

bool keeps_state(const operator_spec& spec) { return std::visit(state_finder(), spec); }

} // namespace headrace::graph
