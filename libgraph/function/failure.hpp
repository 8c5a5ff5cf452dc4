#pragma once

#include "libactors/base/error.hpp"

#include <exception>
#include <string>

namespace headrace::graph {

/// The exception by which state handles and outputs report a failure through user code. Caught at
/// the operator's edge and made an error again.
class failure : public std::exception {
public:
  explicit failure(error cause) : cause_(std::move(cause)), words_(to_string(cause_)) {}
  const char* what() const noexcept override { return words_.c_str(); }
  const error& cause() const { return cause_; }

private:
  error cause_;
  std::string words_;
};

} // namespace headrace::graph
