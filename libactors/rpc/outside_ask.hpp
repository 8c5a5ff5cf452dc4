#pragma once

#include "libactors/rpc/endpoint.hpp"

#include <condition_variable>
#include <mutex>
#include <optional>

namespace headrace::actors {

/// Where the answer of an ask from outside of any actor is put. Any thread.
class awaited_answer {
public:
  void set(result<any_message> answer);
  bool is_there() const;
  /// Blocks until it is there. @errors timed_out  it is not, after `timeout`
  result<any_message> wait(std::chrono::milliseconds timeout);

private:
  mutable std::mutex guard_;
  std::condition_variable there_;
  std::optional<result<any_message>> answer_;
};

/// Asks once in the name of a thread that is no actor, then ends.
class outside_ask final : public endpoint {
public:
  outside_ask(address to, any_message what, std::chrono::milliseconds timeout, fencing_token fence,
              std::shared_ptr<awaited_answer> answer);

protected:
  void on_start() override;
  void on_stop(const error& cause) override;

private:
  address to_;
  any_message what_;
  std::chrono::milliseconds timeout_;
  fencing_token fence_;
  std::shared_ptr<awaited_answer> answer_;
};

} // namespace headrace::actors
