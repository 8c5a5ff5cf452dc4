#pragma once

#include "libactors/rpc/mail.hpp"

#include <memory>

namespace headrace::actors {

/// Refers to an actor of this process; counted, cheap to copy, any thread may send. Mail to one
/// that has ended is dropped. Must be dropped by its holders at shutdown (see `node`).
class actor_ref {
public:
  actor_ref() = default;

  bool is_none() const { return target_ == nullptr; }
  void send(mail_ptr content, mail_priority priority = mail_priority::normal) const;
  friend bool operator==(const actor_ref&, const actor_ref&) = default;

  /// CAF's side; only libactors/rpc makes and opens it.
  struct target;
  explicit actor_ref(std::shared_ptr<const target> to) : target_(std::move(to)) {}
  const std::shared_ptr<const target>& get() const { return target_; }

private:
  std::shared_ptr<const target> target_;
};

} // namespace headrace::actors
