#pragma once

#include <cstddef>
#include <cstdint>

/// The bounds of what comes from outside or piles up, in one place.
namespace headrace::limits {

/// The most bytes of one control message; a larger one is refused before it is allocated.
inline constexpr std::size_t message_bytes_max = std::size_t{64} << 20U;
/// How deep the pointers of a message may go.
inline constexpr int message_nesting_max = 64;
/// A message may be traversed for this many times its own words, and some more for tiny ones.
inline constexpr std::uint64_t message_traversal_factor = 8;
inline constexpr std::uint64_t message_traversal_extra_words = 1024;

/// What an executor's queue may hold; a step beyond it is a bug of the one who submits unbounded.
inline constexpr std::size_t executor_steps_max = 1U << 20U;
/// Children of one endpoint.
inline constexpr std::size_t children_max = 100'000;
/// Asks of one endpoint that wait for an answer; further ones fail at once.
inline constexpr std::size_t pending_asks_max = 1U << 20U;
/// The most bytes of an endpoint's name.
inline constexpr std::size_t endpoint_name_bytes_max = 512;
/// The most bytes of a configuration file.
inline constexpr std::uint64_t configuration_bytes_max = 1U << 20U;

/// The most bytes of a frame's header (ids, names, addresses).
inline constexpr std::size_t frame_header_bytes_max = std::size_t{16} << 10U;
/// The most bytes of a frame's body.
inline constexpr std::size_t frame_body_bytes_max = message_bytes_max;
/// The most bytes of a whole frame from one who is not authenticated yet.
inline constexpr std::size_t frame_unauthenticated_bytes_max = std::size_t{4} << 10U;
/// The most that a body's buffer is ahead of the bytes that have arrived.
inline constexpr std::size_t frame_body_ahead_bytes_max = std::size_t{1} << 20U;
/// Connections that may be in their handshake at once; further ones are refused.
inline constexpr std::size_t unauthenticated_connections_max = 64;
/// Messages that may wait to be sent to one node, or for its acknowledgement: by number, and by
/// bytes (one message may always wait).
inline constexpr std::size_t peer_queue_messages_max = 1U << 17U;
inline constexpr std::size_t peer_queue_bytes_max = std::size_t{256} << 20U;
/// Bytes of messages on their way to the transport's thread.
inline constexpr std::size_t transport_mailbox_bytes_max = std::size_t{256} << 20U;
/// Bytes sent to one node but not acknowledged; further messages wait.
inline constexpr std::size_t peer_unacknowledged_bytes_max = std::size_t{64} << 20U;
/// Bytes that a control connection holds ready for the socket; the rest waits in order of priority.
inline constexpr std::size_t control_connection_bytes = std::size_t{256} << 10U;
/// Bytes that may wait to be written to a data connection.
inline constexpr std::size_t data_connection_bytes_max = std::size_t{64} << 20U;
/// Nodes that one node converses with.
inline constexpr std::size_t peers_max = 16'384;
/// Addresses of nodes that are remembered.
inline constexpr std::size_t address_book_max = 65'536;
/// Endpoints of this node that others may watch at once, each watcher counted.
inline constexpr std::size_t remote_watches_max = 1U << 17U;

} // namespace headrace::limits
