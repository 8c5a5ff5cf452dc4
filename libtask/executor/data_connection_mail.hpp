#pragma once

#include "libtask/mailbox/mail_kind.hpp"
#include "libtask/network/exchange_routes.hpp"
#include "libactors/base/error.hpp"
#include "libactors/base/ids.hpp"
#include "libactors/rpc/mail.hpp"
#include "libactors/transport/frame_connection.hpp"

#include <cstdint>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

namespace headrace::task {

class link_relay;

// What a task executor tells the data connection to another node.

/// Ask for what a consumer of this node wants.
struct open_channel {
  consumer_end end;
};
/// A task of this node has ended.
struct attempt_ended {
  execution_attempt_id attempt;
};
/// There is a link, whichever node has dialed.
struct link_accepted {
  std::shared_ptr<actors::frame_connection> link;
  std::shared_ptr<link_relay> events;
};
/// End: nothing follows.
struct retire_connection {};

struct connection_order final : actors::mail {
  using content_type = std::variant<open_channel, attempt_ended, link_accepted, retire_connection>;
  explicit connection_order(content_type what)
      : mail(static_cast<std::uint32_t>(mail_kind::connection_order)), content(std::move(what)) {}
  content_type content;
};

// What comes from the transport, in order.

/// What a frame says to the connection itself: no credit and no pieces are in it any more.
struct link_words {
  data_frame frame;
  std::vector<route_id> ended; ///< that it had pieces for, and whose consumers are gone
};
/// The other side does not keep to the protocol; what still comes is dropped.
struct link_broken {
  error cause;
};
struct link_closed {
  error cause;
};
/// Its number is that of the attempt.
struct dial_failed {
  error cause;
};

struct link_event final : actors::mail {
  using content_type = std::variant<link_words, link_broken, link_closed, dial_failed>;
  link_event(std::uint64_t of_link, content_type what)
      : mail(static_cast<std::uint32_t>(mail_kind::link_event)), link(of_link),
        content(std::move(what)) {}
  std::uint64_t link; ///< which one, where one has followed another
  content_type content;
};

// What the data connection tells its task executor.

/// The producer is not there (yet), or its node cannot be reached: to be tried again.
struct channel_failed {
  consumer_end end;
  error cause;
};
/// No channel needs it. The task executor retires it, unless it has ordered more meanwhile.
struct connection_idle {
  std::uint64_t orders_seen = 0;
};
/// There is a link to that node, whichever has dialed; from the transport.
struct link_offered {
  std::shared_ptr<actors::frame_connection> link;
  std::shared_ptr<link_relay> events;
};

struct connection_report final : actors::mail {
  using content_type = std::variant<channel_failed, connection_idle, link_offered>;
  connection_report(node_id of_peer, content_type what)
      : mail(static_cast<std::uint32_t>(mail_kind::connection_report)), peer(of_peer),
        content(std::move(what)) {}
  node_id peer;
  content_type content;
};

} // namespace headrace::task
