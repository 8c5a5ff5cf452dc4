#pragma once

#include "libactors/transport/tls_channel.hpp"

#include <memory>
#include <string>

namespace headrace::testing {

/// A private CA in a directory of its own, which goes with it.
class testing_ca {
public:
  testing_ca();
  ~testing_ca();
  /// A fresh key and a certificate of this CA, as files.
  actors::tls_files issue(const std::string& name) const;

private:
  struct state;
  std::unique_ptr<state> state_;
};

} // namespace headrace::testing
