#include "libactors/base/version.hpp"

namespace headrace {

std::string_view version() { return HEADRACE_VERSION; }

} // namespace headrace
