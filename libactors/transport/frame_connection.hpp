#pragma once

#include "libactors/transport/frame.hpp"

#include <cstddef>
#include <memory>

namespace headrace::actors {

/// Takes what comes over a connection. Called on the transport's thread, one call at a time: hand
/// the work on, never block.
class frame_receiver {
public:
  virtual ~frame_receiver() = default;
  virtual void on_frame(incoming_frame what) = 0;
  /// What waits to be written has fallen below the low mark, after it had been above it.
  virtual void on_drained() {}
  /// The connection is gone; nothing is called any more. `cause` says why, in words.
  virtual void on_closed(const error& cause) = 0;
};

/// An open connection to another node, over which frames go, whole and in order. Any thread may
/// call, and no call blocks.
class frame_connection {
public:
  virtual ~frame_connection() = default;
  /// Queues a frame. The pieces of its body are written from where they are; their owners are
  /// dropped when they have been written.
  /// @errors queue_full  more would wait than the connection's bound (one frame may always wait)
  /// @errors peer_lost   the connection is closed
  /// @errors message_too_large  the header or the body is larger than the other side takes
  virtual status send(outgoing_frame frame) = 0;
  /// Bytes that were given to `send` and are not with the operating system yet.
  virtual std::size_t queued_bytes() const = 0;
  /// Closes when all that is queued has been written; `on_closed` follows with `cause`.
  virtual void close(error cause) = 0;
  /// Closes at once; `on_closed` follows with `cause`.
  virtual void abort(error cause) = 0;
};

/// How much may wait to be written.
struct queue_bounds {
  std::size_t bytes_max = limits::control_connection_bytes;
  std::size_t drained_bytes = bytes_max / 2; ///< the low mark of `on_drained`
  /// What the system may hold that is not sent: the more, the longer an urgent frame waits; the
  /// less, the more often the writer is woken.
  std::size_t unsent_bytes = std::size_t{128} << 10U;
};

/// Before it is handed to its user: what the handshake needs. On the transport's thread.
class opening_connection : public frame_connection {
public:
  /// Frames may be as large as `bounds` say from the next one on.
  virtual void set_limits(frame_limits bounds) = 0;
  virtual void set_queue(queue_bounds bounds) = 0;
  /// Where the other end is seen, without port.
  virtual std::string peer_host() const = 0;
};

/// As long as the connection is being opened, its receiver is one of these.
class opening_receiver : public frame_receiver {
public:
  /// The bytes can flow (connected; with TLS: the other side has a certificate of the right CA).
  virtual void on_open() = 0;
};

/// Makes connections; the seam under `hub`. On the transport's thread.
class connector {
public:
  virtual ~connector() = default;
  /// `on_open` or `on_closed` (`connection_refused`: nobody listens; `connection_failed`) follows,
  /// never from within this call.
  virtual std::shared_ptr<opening_connection> dial(const std::string& host, std::uint16_t port,
                                                   std::shared_ptr<opening_receiver> receiver) = 0;
};

} // namespace headrace::actors
