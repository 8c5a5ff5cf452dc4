#include "libactors/rpc/outside_ask.hpp"

namespace headrace::actors {

void awaited_answer::set(result<any_message> answer) {
  const std::lock_guard lock(guard_);
  if (!answer_) {
    answer_.emplace(std::move(answer));
    there_.notify_all();
  }
}

bool awaited_answer::is_there() const {
  const std::lock_guard lock(guard_);
  return answer_.has_value();
}

result<any_message> awaited_answer::wait(std::chrono::milliseconds timeout) {
  std::unique_lock lock(guard_);
  if (!there_.wait_for(lock, timeout, [&] { return answer_.has_value(); })) {
    // The ask's own deadline comes first, unless this process had no time to run.
    return error(errc::timed_out, "no answer in time: " + std::to_string(timeout.count()) + " ms");
  }
  return *answer_;
}

outside_ask::outside_ask(address to, any_message what, std::chrono::milliseconds timeout,
                         fencing_token fence, std::shared_ptr<awaited_answer> answer)
    : to_(std::move(to)), what_(std::move(what)), timeout_(timeout), fence_(fence),
      answer_(std::move(answer)) {}

void outside_ask::on_start() {
  ask_untyped(to_, what_, any_reply, timeout_, fence_, [this](result<any_message> answer) {
    answer_->set(std::move(answer));
    quit();
  });
}

void outside_ask::on_stop(const error& /*cause*/) {
  answer_->set(error(errc::shut_down, "the node is shut down")); // unless it was answered
}

} // namespace headrace::actors
