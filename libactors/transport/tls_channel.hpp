#pragma once

#include "libactors/base/result.hpp"
#include "libactors/transport/byte_channel.hpp"

#include <memory>
#include <string>

namespace headrace::actors {

/// Paths of PEM files; all empty: no TLS.
struct tls_files {
  std::string certificate; ///< of this node, with its chain
  std::string key;
  std::string ca; ///< of the private CA that signs the nodes of this cluster, and no others

  bool is_none() const { return certificate.empty() && key.empty() && ca.empty(); }
};

/// Certificate and trust of a node. Both sides of a connection must show a certificate of the CA;
/// names in certificates are not compared, so the CA must sign nodes of this cluster only. TLS 1.3.
/// Any thread.
class tls_context {
public:
  /// @errors bad_option_value  a file is not named, cannot be read, or does not fit the others
  static result<std::shared_ptr<const tls_context>> load(const tls_files& files);

  /// For a connected socket, which the channel does not own.
  std::unique_ptr<byte_channel> make_channel(int fd, bool is_dialed) const;

  struct state;
  explicit tls_context(std::unique_ptr<state> inner);
  ~tls_context();

private:
  std::unique_ptr<state> state_;
};

} // namespace headrace::actors
