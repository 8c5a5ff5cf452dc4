#include "libgraph/sql/translate/translator.hpp"

namespace headrace::sql {

maybe_index job_translator::make(const sort_node& /*node*/, const plan_node& plan) {
  return not_yet("ORDER BY and LIMIT inside a job (they can, where rows are shown)", plan.at);
}

} // namespace headrace::sql
