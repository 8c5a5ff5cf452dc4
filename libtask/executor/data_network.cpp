#include "libtask/executor/data_network.hpp"

#include <utility>

namespace headrace::task {

void link_relay::bind(actors::actor_ref connection, std::uint64_t link,
                      std::shared_ptr<link_routes> routes, std::shared_ptr<link_writer> writer) {
  const std::lock_guard guard(guard_);
  to_ = std::move(connection);
  link_ = link;
  routes_ = std::move(routes);
  writer_ = std::move(writer);
  for (auto& what : std::exchange(kept_, {}))
    give(std::move(what));
}

void link_relay::relay(event what) {
  const std::lock_guard guard(guard_);
  if (to_.is_none())
    kept_.push_back(std::move(what));
  else
    give(std::move(what));
}

void link_relay::give(event what) {
  if (const auto* frame = std::get_if<actors::incoming_frame>(&what))
    hear(*frame);
  else
    tell(std::get<link_closed>(std::move(what)));
}

void link_relay::on_drained() {
  const auto writer = [&] {
    const std::lock_guard guard(guard_);
    return writer_;
  }();
  if (writer != nullptr)
    writer->send();
}

void link_relay::hear(const actors::incoming_frame& frame) {
  if (is_broken_)
    return;
  routes_->count_frame(frame.body.size());
  const auto done = [&]() -> status {
    if (frame.kind != frame_of_routes)
      return error(errc::malformed_message, "frame of an unknown kind");
    HEADRACE_TRY(auto words, decode_frame(frame.header, frame.body.view(), frame.body.owner()));
    HEADRACE_TRY(auto ended, routes_->deliver(words));
    if (!words.requests.empty() || !words.refusals.empty() || !words.abandoned.empty() ||
        words.leaves || !ended.empty())
      tell(link_words{std::move(words), std::move(ended)});
    return {};
  }();
  if (!done) {
    is_broken_ = true;
    tell(link_broken{done.error()});
  }
}

void link_relay::tell(link_event::content_type what) {
  to_.send(std::make_unique<link_event>(link_, std::move(what)));
}

} // namespace headrace::task
