#include "libscheduler/source/reader_outbox.hpp"

namespace headrace::scheduler {

std::optional<reader_outbox::event> reader_outbox::send(std::int32_t reader, const event& what) {
  if (closed_for_ != 0) {
    held_back_.emplace_back(reader, what);
  } else if (!registered_.contains(reader)) {
    unregistered_.emplace_back(reader, what);
  } else {
    return what;
  }
  return {};
}

std::vector<reader_outbox::event> reader_outbox::on_registered(std::int32_t reader) {
  registered_.insert(reader);
  std::vector<event> out;
  std::erase_if(unregistered_, [&](const addressed& held) {
    if (held.first == reader)
      out.push_back(held.second);
    return held.first == reader;
  });
  if (closed_for_ == 0)
    return out;
  // They were sent before what waits for the barrier.
  std::vector<addressed> first;
  for (auto& each : out)
    first.emplace_back(reader, std::move(each));
  held_back_.insert(held_back_.begin(), first.begin(), first.end());
  return {};
}

void reader_outbox::on_reset(std::int32_t reader) {
  const auto is_its = [&](const addressed& held) { return held.first == reader; };
  registered_.erase(reader);
  std::erase_if(held_back_, is_its);
  std::erase_if(unregistered_, is_its);
}

std::vector<reader_outbox::addressed> reader_outbox::open(checkpoint_id checkpoint) {
  if (closed_for_ != checkpoint)
    return {};
  closed_for_ = 0;
  std::vector<addressed> out;
  for (auto& [reader, what] : std::exchange(held_back_, {}))
    if (auto now = send(reader, what))
      out.emplace_back(reader, std::move(*now));
  return out;
}

} // namespace headrace::scheduler
