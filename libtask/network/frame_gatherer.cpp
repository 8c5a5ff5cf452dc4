#include "libtask/network/frame_gatherer.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

namespace headrace::task {

namespace {

std::size_t body_bytes(const route_piece& piece) {
  std::size_t out = 0;
  for (const auto& element : piece.elements)
    out += task::body_bytes(element);
  return out;
}

template <class Entry>
void move_some(std::deque<Entry>& from, std::vector<Entry>& to, std::size_t most) {
  const auto count = std::min(from.size(), most);
  const auto end = from.begin() + static_cast<std::ptrdiff_t>(count);
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(end));
  from.erase(from.begin(), end);
}

} // namespace

void frame_gatherer::add(route_piece piece) {
  pending_bytes_ += body_bytes(piece);
  pieces_.push_back(std::move(piece));
}

void frame_gatherer::drop(route_id route) {
  std::erase_if(pieces_, [&](const route_piece& piece) {
    if (piece.route != route)
      return false;
    pending_bytes_ -= body_bytes(piece);
    return true;
  });
}

bool frame_gatherer::has_controls() const {
  return !requests_.empty() || !refusals_.empty() || !credits_.empty() || !abandoned_.empty();
}

bool frame_gatherer::is_empty() const { return pieces_.empty() && !has_controls(); }

std::optional<data_frame> frame_gatherer::take(bool with_pieces) {
  if (!has_controls() && (!with_pieces || pieces_.empty()))
    return std::nullopt;
  data_frame out;
  move_some(requests_, out.requests, limits_.entries);
  move_some(refusals_, out.refusals, limits_.entries);
  move_some(credits_, out.credits, limits_.entries);
  move_some(abandoned_, out.abandoned, limits_.entries);
  if (with_pieces)
    take_pieces(out);
  return out;
}

void frame_gatherer::take_pieces(data_frame& out) {
  std::unordered_map<route_id, std::size_t> by_route;
  std::size_t bytes = 0;
  std::size_t elements = 0;
  while (!pieces_.empty() && bytes < limits_.frame_bytes && elements < limits_.entries) {
    auto& next = pieces_.front();
    const auto [at, is_new] = by_route.try_emplace(next.route, out.pieces.size());
    if (is_new)
      out.pieces.push_back({next.route, {}, false});
    auto& to = out.pieces[at->second];
    auto end = next.elements.begin();
    while (end != next.elements.end() && bytes < limits_.frame_bytes &&
           elements < limits_.entries) {
      bytes += task::body_bytes(*end);
      ++elements;
      ++end;
    }
    to.elements.insert(to.elements.end(), std::make_move_iterator(next.elements.begin()),
                       std::make_move_iterator(end));
    if (end != next.elements.end()) {
      next.elements.erase(next.elements.begin(), end);
      break;
    }
    to.closes = next.closes;
    ++elements; // a piece without elements counts too
    pieces_.pop_front();
  }
  pending_bytes_ -= bytes;
}

} // namespace headrace::task
