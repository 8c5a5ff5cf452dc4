#include "libtask/operator/window/session_list.hpp"

#include <cstring>

namespace headrace::task {

std::int64_t session_list::word(std::size_t index, std::size_t offset) const {
  std::int64_t out = 0;
  std::memcpy(&out, bytes_.data() + index * stride_ + offset, sizeof(out));
  return out;
}

session_list::range session_list::meeting(std::int64_t start, std::int64_t end) const {
  // Rows mostly come in order: the last session is looked at first.
  auto last = size();
  while (last > 0 && start_ms(last - 1) > end)
    --last;
  auto first = last;
  while (first > 0 && end_ms(first - 1) >= start)
    --first;
  return {first, last - first};
}

void session_list::insert(std::size_t index, std::int64_t start, std::int64_t end) {
  bytes_.insert(index * stride_, stride_, '\0');
  set_bounds(index, start, end);
}

void session_list::set_bounds(std::size_t index, std::int64_t start, std::int64_t end) {
  char* at = bytes_.data() + index * stride_;
  std::memcpy(at, &start, sizeof(start));
  std::memcpy(at + sizeof(start), &end, sizeof(end));
}

void session_list::erase(std::size_t from, std::size_t count) {
  bytes_.erase(from * stride_, count * stride_);
}

} // namespace headrace::task
