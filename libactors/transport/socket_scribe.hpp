#pragma once

#include "libactors/transport/byte_channel.hpp"
#include "libactors/transport/frame_connection.hpp"
#include "libactors/transport/frame_decoder.hpp"
#include "libactors/transport/loop_handler.hpp"
#include "libactors/transport/write_queue.hpp"

#include <caf/io/scribe.hpp>

#include <atomic>
#include <mutex>
#include <vector>

namespace headrace::actors {

class socket_connection;

/// One socket of the transport's broker. CAF's own scribe copies what is written into one buffer,
/// and what is read into messages; this one writes frames from the pieces that they are made of,
/// and reads bodies to where they stay. Lives on the thread of CAF's multiplexer.
///
/// Reads and writes a bounded piece an event, so that a full connection does not keep the others
/// waiting.
class socket_scribe final : public caf::io::scribe {
public:
  socket_scribe(caf::io::network::default_multiplexer& loop, int fd,
                std::unique_ptr<byte_channel> channel, std::shared_ptr<opening_receiver> receiver,
                std::shared_ptr<body_pool> bodies);
  ~socket_scribe() override;

  /// Begins to wait for events. After it was added to its broker.
  void launch(bool is_connected);
  const std::shared_ptr<socket_connection>& connection() const { return connection_; }

  // --- on the multiplexer's thread, for the connection
  void take_handed();
  /// Writes the next pieces of `from`: on any thread, while the connection's lock is held.
  byte_channel::transfer write_beside_reads(const write_queue& from);
  void close(error cause, bool at_once);
  void set_limits(frame_limits bounds) { decoder_.set_limits(bounds); }
  void bound_unsent(std::size_t bytes);
  std::string addr() const override;

  // --- CAF's side
  void configure_read(caf::io::receive_policy::config /*config*/) override {}
  void ack_writes(bool /*enable*/) override {}
  std::vector<char>& wr_buf() override { return unused_; }
  std::vector<char>& rd_buf() override { return unused_; }
  void flush() override {}
  std::uint16_t port() const override { return 0; }
  void graceful_shutdown() override;
  void add_to_loop() override {}
  void remove_from_loop() override { handler_.leave(); }

private:
  class handler final : public loop_handler {
  public:
    handler(caf::io::network::default_multiplexer& loop, int fd, socket_scribe& owner)
        : loop_handler(loop, fd, owner), owner_(owner) {}
    void handle_event(operation what) override { owner_.on_event(what); }

  private:
    socket_scribe& owner_;
  };
  enum class phase : std::uint8_t { connecting, opening, open, closed };

  /// Runs `action`; what it throws closes this connection alone.
  template <class Action>
  void guard(Action&& action);
  void on_event(caf::io::network::operation what);
  void handle(caf::io::network::operation what);
  void open_channel();
  void read_some();
  bool give_frames();
  void write_some();
  void tell_if_drained();
  void finish(error cause);

  handler handler_;
  std::unique_ptr<byte_channel> channel_;
  std::shared_ptr<opening_receiver> receiver_;
  std::shared_ptr<socket_connection> connection_;
  phase phase_ = phase::connecting;
  frame_decoder decoder_;
  write_queue queue_;
  std::optional<error> closing_; ///< closes when the queue is empty
  std::vector<char> unused_;
};

/// The side of a socket that any thread may call. While nothing waits, the caller's thread writes
/// to the socket itself, as far as the system takes it at once; the loop does the rest.
class socket_connection final : public opening_connection {
public:
  explicit socket_connection(socket_scribe& scribe) : scribe_(&scribe) {}

  status send(outgoing_frame frame) override;
  std::size_t queued_bytes() const override { return queued_.load(std::memory_order_relaxed); }
  void close(error cause) override { end(std::move(cause), false); }
  void abort(error cause) override { end(std::move(cause), true); }
  void set_limits(frame_limits bounds) override;
  void set_queue(queue_bounds bounds) override;
  std::string peer_host() const override;

private:
  friend class socket_scribe;
  void write_at_once();
  void end(error cause, bool at_once);
  caf::intrusive_ptr<socket_scribe> scribe() const;

  mutable std::mutex guard_;
  caf::intrusive_ptr<socket_scribe> scribe_; ///< none: closed
  caf::io::network::multiplexer* loop_ = nullptr;
  write_queue handed_;
  bool is_woken_ = false;    ///< the loop will look at `handed_`
  bool writes_here_ = false; ///< the socket is open, and lets others write than the loop
  queue_bounds bounds_;
  std::atomic<std::size_t> queued_{0}; ///< in `handed_` and in the loop's queue
  std::atomic<bool> wants_drained_{false};
};

} // namespace headrace::actors
