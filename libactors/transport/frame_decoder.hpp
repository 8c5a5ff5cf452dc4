#pragma once

#include "libactors/transport/body_pool.hpp"
#include "libactors/transport/frame.hpp"

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace headrace::actors {

/// Makes frames of the bytes of one connection. Bytes are read to where they belong: `room` says
/// where the next ones go (the rest of a body first, so that it is never copied), `commit` how many
/// came, `next` gives the frames one by one. Limits may change between two frames.
///
/// Never reserves memory on a stranger's word: a length beyond the limits is an error before
/// anything is allocated, and a body's buffer is at most `frame_body_ahead_bytes_max` ahead of the
/// bytes that have come, or as large as they are. Pure; one thread.
class frame_decoder {
public:
  /// @param pool  gives the memory of bodies; none: each gets fresh memory
  explicit frame_decoder(frame_limits limits, std::shared_ptr<body_pool> pool = nullptr)
      : limits_(limits), pool_(std::move(pool)) {}

  /// For the frames that `next` has not given yet.
  void set_limits(frame_limits limits) { limits_ = limits; }

  /// Where the next bytes go, in this order. The second may be empty, the first never is, once
  /// `next` has given nothing.
  std::array<std::span<char>, 2> room();
  /// So many bytes were put into `room`.
  void commit(std::size_t bytes);
  /// Copies bytes in, for who has them already; call when `next` has given nothing.
  /// @returns how many were taken: at least one, if there is one
  std::size_t feed(byte_view bytes);

  /// Gives the next whole frame, or nothing. After an error the connection is of no use.
  /// @errors malformed_message  no frame starts here
  /// @errors message_too_large  the frame says that it is larger than the limits
  result<std::optional<incoming_frame>> next();

  /// Bytes that must come before there is anything to do: of a body that is being read.
  std::size_t missing_bytes() const {
    return prefix_ ? static_cast<std::size_t>(prefix_->body_bytes) - body_filled_ : 1;
  }

  /// After an error of `next`: whether TLS came where a frame should begin.
  bool has_tls() const { return !prefix_ && frame_prefix::begins_tls(staged()); }

  /// Bytes that are reserved; for tests and the fuzzer.
  std::size_t reserved_bytes() const { return staged_.size() + body_capacity_; }

private:
  status check(const frame_prefix& prefix) const;
  byte_view staged() const { return {staged_.data() + begin_, end_ - begin_}; }
  void begin_body();
  void grow_body(std::size_t capacity);

  frame_limits limits_;
  std::shared_ptr<body_pool> pool_;
  std::vector<char> staged_; ///< prefix, header, and what came with them
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::optional<frame_prefix> prefix_; ///< of the frame whose body is being read
  byte_string header_;
  aligned_bytes body_;
  std::size_t body_capacity_ = 0;
  std::size_t body_filled_ = 0;
  std::size_t last_body_bytes_ = 0; ///< of the frame that was begun last
};

} // namespace headrace::actors
