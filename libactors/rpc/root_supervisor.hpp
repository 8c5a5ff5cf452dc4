#pragma once

#include "libactors/rpc/endpoint.hpp"

namespace headrace::actors {

/// The root of a node's supervision tree: parent of what `node::spawn` starts. A child that fails
/// and is to escalate is a fatal error of the node; any other is logged.
class root_supervisor final : public endpoint {
protected:
  void on_child_ended(const std::string& name, const error& cause) override;
};

} // namespace headrace::actors
