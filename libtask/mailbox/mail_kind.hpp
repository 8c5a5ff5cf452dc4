#pragma once

#include <cstdint>
#include <string_view>

namespace headrace::task {

/// What mail of this library carries; the derived class follows from it.
enum class mail_kind : std::uint32_t {
  exchange_data = 1, ///< producer → consumer subtask, in order
  exchange_credit,   ///< consumer → producer subtask, before data
  attach_consumer,   ///< task executor → producer subtask
  task_control,      ///< task executor → subtask
  task_report,       ///< subtask → task executor
  remote_data,       ///< connection → consumer subtask, in order
  remote_opened,     ///< connection → consumer subtask, before data
  connection_order,  ///< task executor or subtask → connection
  connection_report, ///< connection → task executor
  link_event,        ///< transport → connection, in order
  task_wake,         ///< any thread → subtask
};

/// The enumerator's name; empty for a number without one.
constexpr std::string_view name_of(mail_kind kind) {
  switch (kind) {
  case mail_kind::exchange_data:
    return "exchange_data";
  case mail_kind::exchange_credit:
    return "exchange_credit";
  case mail_kind::attach_consumer:
    return "attach_consumer";
  case mail_kind::task_control:
    return "task_control";
  case mail_kind::task_report:
    return "task_report";
  case mail_kind::remote_data:
    return "remote_data";
  case mail_kind::remote_opened:
    return "remote_opened";
  case mail_kind::connection_order:
    return "connection_order";
  case mail_kind::connection_report:
    return "connection_report";
  case mail_kind::link_event:
    return "link_event";
  case mail_kind::task_wake:
    return "task_wake";
  }
  return {};
}

} // namespace headrace::task
