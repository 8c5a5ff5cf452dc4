#pragma once

#include "libactors/base/error.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <sys/uio.h>

namespace headrace::actors {

/// Moves bytes through a connected socket that never blocks: as they are, or through TLS.
class byte_channel {
public:
  enum class outcome : std::uint8_t {
    done,
    wants_read,  ///< again when the socket is readable
    wants_write, ///< again when it is writable
    closed,      ///< the other side has ended it in order
    failed,
  };
  struct transfer {
    outcome how = outcome::done;
    std::size_t bytes = 0;
    error failure;
  };

  virtual ~byte_channel() = default;
  /// Goes on with what must be said before bytes can flow.
  virtual transfer open() = 0;
  virtual transfer read(std::span<iovec> into) = 0;
  virtual transfer write(std::span<iovec> from) = 0;
  /// At least so many bytes (at least 1) will come: the socket may be called readable only when
  /// they have, or when it is closed.
  virtual void expect(std::size_t bytes) = 0;
  /// Whether a read gives something though the socket is not readable.
  virtual bool has_pending() const = 0;
  /// Whether `write` may be called while another thread reads: TLS keeps one state for both.
  virtual bool writes_beside_reads() const = 0;
};

std::unique_ptr<byte_channel> make_plain_channel(int fd);

} // namespace headrace::actors
