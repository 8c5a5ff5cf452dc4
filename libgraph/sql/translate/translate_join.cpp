#include "libgraph/sql/translate/translator.hpp"

namespace headrace::sql {

maybe_index job_translator::make(const join_node& /*node*/, const plan_node& plan) {
  return not_yet("a join", plan.at);
}

} // namespace headrace::sql
