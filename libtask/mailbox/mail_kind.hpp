#pragma once

#include <cstdint>

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
  outgoing_data,     ///< producer subtask → connection, in order
  outgoing_credit,   ///< consumer subtask → connection, before data
  connection_order,  ///< task executor or subtask → connection
  connection_report, ///< connection → task executor
  link_event,        ///< transport → connection, in order
};

} // namespace headrace::task
