#pragma once

#include <cstdint>
#include <memory>

namespace headrace::actors {

/// What one actor hands another by pointer within a process (a batch, a credit, a timer): immutable
/// or moved, never shared mutable. Derived classes carry the content; `kind` tells which, from an
/// enumeration of the receiving library.
class mail {
public:
  explicit mail(std::uint32_t kind) : kind_(kind) {}
  virtual ~mail() = default;
  mail(const mail&) = delete;
  mail& operator=(const mail&) = delete;
  std::uint32_t kind() const { return kind_; }

private:
  std::uint32_t kind_;
};
using mail_ptr = std::unique_ptr<mail>;

enum class mail_priority : std::uint8_t {
  normal, ///< keeps the order of sending
  high,   ///< before all normal mail
};

} // namespace headrace::actors
