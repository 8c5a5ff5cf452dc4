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
};

} // namespace headrace::task
