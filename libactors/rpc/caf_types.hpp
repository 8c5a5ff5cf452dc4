#pragma once

#include "libactors/rpc/delivery.hpp"

#include <caf/allowed_unsafe_message_type.hpp>

#include <utility>

namespace headrace::actors {

/// Hands something that can only be moved through a CAF mailbox. CAF wants its messages copyable,
/// but never copies one that is sent to a single receiver; a copy would be empty.
template <class T>
class handed_over {
public:
  handed_over() = default;
  explicit handed_over(T content) : content_(std::make_unique<T>(std::move(content))) {}
  handed_over(handed_over&&) noexcept = default;
  handed_over(const handed_over& /*other*/) {}
  handed_over& operator=(handed_over&&) noexcept = default;
  handed_over& operator=(const handed_over&) = delete;
  ~handed_over() = default;

  std::unique_ptr<T> take() { return std::move(content_); }

private:
  std::unique_ptr<T> content_;
};

/// The same for mail, which is behind a pointer already: the fast path allocates once a message.
class handed_mail {
public:
  handed_mail() = default;
  explicit handed_mail(mail_ptr content) : content_(std::move(content)) {}
  handed_mail(handed_mail&&) noexcept = default;
  handed_mail(const handed_mail& /*other*/) {}
  handed_mail& operator=(handed_mail&&) noexcept = default;
  handed_mail& operator=(const handed_mail&) = delete;
  ~handed_mail() = default;

  mail_ptr take() { return std::move(content_); }

private:
  mail_ptr content_;
};

using handed_delivery = handed_over<endpoint::delivery>;

} // namespace headrace::actors

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(headrace::actors::handed_mail)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(headrace::actors::handed_delivery)
