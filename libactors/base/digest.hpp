#pragma once

#include "libactors/base/bytes.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace headrace {

/// Computes SHA-256 over bytes that come in pieces. One thread at a time.
class sha256 {
public:
  sha256();
  ~sha256();
  sha256(sha256&&) noexcept;
  sha256& operator=(sha256&&) noexcept;

  void update(byte_view piece);
  /// 64 lower-case hex digits. Nothing may be added after it.
  std::string finish();

private:
  struct state;
  std::unique_ptr<state> state_;
};

std::string sha256_hex(byte_view whole);

enum class digest_kind : std::uint8_t { md5, sha1, sha224, sha256, sha384, sha512 };
/// The digest as lower-case hex digits.
std::string digest_hex(digest_kind kind, byte_view whole);
/// Whether the text could be a digest: 64 lower-case hex digits. Such a text is a safe file name.
bool is_sha256_hex(std::string_view text);

} // namespace headrace
