#include "libactors/base/digest.hpp"

#include "libactors/base/assert.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <span>

namespace headrace {
namespace {

std::string hex_of(std::span<const unsigned char> raw) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * raw.size());
  for (const auto byte : raw) {
    hex.push_back(digits[byte >> 4U]);
    hex.push_back(digits[byte & 0xfU]);
  }
  return hex;
}

const EVP_MD* algorithm_of(digest_kind kind) {
  switch (kind) {
  case digest_kind::md5:
    return EVP_md5();
  case digest_kind::sha1:
    return EVP_sha1();
  case digest_kind::sha224:
    return EVP_sha224();
  case digest_kind::sha256:
    return EVP_sha256();
  case digest_kind::sha384:
    return EVP_sha384();
  case digest_kind::sha512:
    return EVP_sha512();
  }
  return EVP_sha256();
}

} // namespace

struct sha256::state {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  state() = default;
  state(const state&) = delete;
  state& operator=(const state&) = delete;
  ~state() { EVP_MD_CTX_free(context); }
};

sha256::sha256() : state_(std::make_unique<state>()) {
  HEADRACE_ASSERT(state_->context != nullptr &&
                      EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr) == 1,
                  "libcrypto has SHA-256");
}
sha256::~sha256() = default;
sha256::sha256(sha256&&) noexcept = default;
sha256& sha256::operator=(sha256&&) noexcept = default;

void sha256::update(byte_view piece) {
  HEADRACE_ASSERT(EVP_DigestUpdate(state_->context, piece.data(), piece.size()) == 1,
                  "a digest takes bytes until it is finished");
}

std::string sha256::finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> raw{};
  unsigned size = 0;
  HEADRACE_ASSERT(EVP_DigestFinal_ex(state_->context, raw.data(), &size) == 1,
                  "a digest is finished once");
  return hex_of({raw.data(), size});
}

std::string sha256_hex(byte_view whole) {
  sha256 digest;
  digest.update(whole);
  return digest.finish();
}

std::string digest_hex(digest_kind kind, byte_view whole) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> raw{};
  unsigned size = 0;
  HEADRACE_ASSERT(
      EVP_Digest(whole.data(), whole.size(), raw.data(), &size, algorithm_of(kind), nullptr) == 1,
      "libcrypto has the digest");
  return hex_of({raw.data(), size});
}

bool is_sha256_hex(std::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

} // namespace headrace
