#include "libactors/transport/authentication.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>

namespace headrace::actors {

byte_string hmac_sha256(byte_view key, byte_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
  unsigned size = 0;
  const auto* made =
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(), out.data(), &size);
  HEADRACE_ASSERT(made != nullptr, "libcrypto has HMAC-SHA256");
  return {reinterpret_cast<const char*>(out.data()), size};
}

bool equal_in_constant_time(byte_view one, byte_view other) {
  return one.size() == other.size() && CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

} // namespace headrace::actors
