#include "libactors/transport/frame_decoder.hpp"

#include <algorithm>
#include <cstring>

namespace headrace::actors {
namespace {

/// Enough for several small frames a read.
constexpr std::size_t staged_bytes = std::size_t{64} << 10U;
/// Behind a large body comes another one, most often: what is read ahead of it is copied.
constexpr std::size_t staged_behind_large_bytes = std::size_t{4} << 10U;

} // namespace

std::array<std::span<char>, 2> frame_decoder::room() {
  std::array<std::span<char>, 2> out;
  std::size_t used = 0;
  if (prefix_ && body_filled_ < prefix_->body_bytes) {
    if (body_filled_ == body_capacity_) {
      grow_body(std::max(2 * body_capacity_, limits::frame_body_ahead_bytes_max));
    }
    out[used++] = {body_.data() + body_filled_, body_capacity_ - body_filled_};
    if (body_capacity_ < prefix_->body_bytes) {
      return out;
    }
  }
  if (begin_ == end_) {
    begin_ = end_ = 0;
  } else if (begin_ > 0) {
    std::memmove(staged_.data(), staged_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  const auto wanted = std::min(staged_bytes, frame_prefix::size_bytes + limits_.frame_bytes_max);
  if (staged_.size() < std::max(wanted, end_ + frame_prefix::size_bytes)) {
    staged_.resize(std::max(wanted, end_ + frame_prefix::size_bytes));
  }
  out[used] = {staged_.data() + end_, staged_.size() - end_};
  if (last_body_bytes_ >= staged_bytes && out[used].size() > staged_behind_large_bytes) {
    out[used] = out[used].first(staged_behind_large_bytes);
  }
  return out;
}

void frame_decoder::commit(std::size_t bytes) {
  if (prefix_ && body_filled_ < prefix_->body_bytes) {
    const auto to_body = std::min(bytes, body_capacity_ - body_filled_);
    body_filled_ += to_body;
    bytes -= to_body;
  }
  end_ += bytes;
}

std::size_t frame_decoder::feed(byte_view bytes) {
  std::size_t taken = 0;
  for (const auto& space : room()) {
    const auto part = std::min(space.size(), bytes.size() - taken);
    if (part > 0) {
      std::memcpy(space.data(), bytes.data() + taken, part);
    }
    taken += part;
  }
  commit(taken);
  return taken;
}

status frame_decoder::check(const frame_prefix& prefix) const {
  const auto too_large = [](const char* what, std::uint64_t is, std::size_t most) {
    return error(errc::message_too_large, std::string("frame too large: ") + what + " of " +
                                              std::to_string(is) + " bytes, at most " +
                                              std::to_string(most));
  };
  if (prefix.header_bytes > limits_.header_bytes_max) {
    return too_large("header", prefix.header_bytes, limits_.header_bytes_max);
  }
  if (prefix.body_bytes > limits_.body_bytes_max) {
    return too_large("body", prefix.body_bytes, limits_.body_bytes_max);
  }
  const auto both = std::uint64_t{prefix.header_bytes} + prefix.body_bytes;
  if (both > limits_.frame_bytes_max) {
    return too_large("header and body", both, limits_.frame_bytes_max);
  }
  return {};
}

void frame_decoder::grow_body(std::size_t capacity) {
  capacity = std::min<std::size_t>(capacity, prefix_->body_bytes);
  auto larger = pool_ ? pool_->take(capacity) : aligned_bytes(capacity);
  if (body_filled_ > 0) {
    std::memcpy(larger.data(), body_.data(), body_filled_);
  }
  body_ = std::move(larger);
  body_capacity_ = capacity;
}

void frame_decoder::begin_body() {
  body_filled_ = 0;
  body_capacity_ = 0;
  last_body_bytes_ = prefix_->body_bytes;
  if (prefix_->body_bytes == 0) {
    body_ = aligned_bytes();
    return;
  }
  const auto here = std::min<std::size_t>(staged().size(), prefix_->body_bytes);
  grow_body(std::max(here, limits::frame_body_ahead_bytes_max));
  if (here > 0) {
    std::memcpy(body_.data(), staged().data(), here);
  }
  body_filled_ = here;
  begin_ += here;
}

result<std::optional<incoming_frame>> frame_decoder::next() {
  if (!prefix_) {
    if (staged().size() < frame_prefix::size_bytes) {
      HEADRACE_CHECK(frame_prefix::check_magic(staged()));
      return std::optional<incoming_frame>();
    }
    HEADRACE_TRY(const auto prefix, frame_prefix::decode(staged()));
    HEADRACE_CHECK(check(prefix));
    const auto whole = frame_prefix::size_bytes + prefix.header_bytes;
    if (staged().size() < whole) {
      return std::optional<incoming_frame>();
    }
    header_.assign(staged().substr(frame_prefix::size_bytes, prefix.header_bytes));
    begin_ += whole;
    prefix_ = prefix;
    begin_body();
  }
  if (body_filled_ < prefix_->body_bytes) {
    return std::optional<incoming_frame>();
  }
  std::optional<incoming_frame> out(
      {.kind = prefix_->kind, .header = std::move(header_), .body = std::move(body_)});
  header_ = {};
  body_ = {};
  body_capacity_ = 0;
  prefix_.reset();
  return out;
}

} // namespace headrace::actors
