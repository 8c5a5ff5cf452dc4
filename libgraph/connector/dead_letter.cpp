#include "libgraph/connector/source.hpp"

namespace headrace::graph {

row_type_ptr dead_letter_type() {
  static const auto type = std::make_shared<const logical_type>(
      logical_type::row({{"record", logical_type::bytes().not_null(), {}},
                         {"reason", logical_type::string().not_null(), {}},
                         {"file", logical_type::string().not_null(), {}},
                         {"position", logical_type::bigint().not_null(), {}}})
          .not_null());
  return type;
}

} // namespace headrace::graph
