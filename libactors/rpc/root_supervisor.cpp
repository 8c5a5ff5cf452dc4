#include "libactors/rpc/root_supervisor.hpp"

namespace headrace::actors {

void root_supervisor::on_child_ended(const std::string& name, const error& cause) {
  if (cause.code == errc::none) {
    log().debug("actor ended", {{"child", name}});
  } else {
    log().error("actor failed", {{"child", name}, {"cause", to_string(cause)}});
  }
}

} // namespace headrace::actors
