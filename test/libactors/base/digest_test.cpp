#include "libactors/base/digest.hpp"

#include <doctest/doctest.h>

namespace headrace {

TEST_SUITE("base/digest") {

TEST_CASE("SHA-256 gives the published values, in one piece or several") {
  CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");

  sha256 digest;
  digest.update("a");
  digest.update("bc");
  CHECK(digest.finish() == sha256_hex("abc"));
}

TEST_CASE("other digests are those of coreutils") {
  CHECK(digest_hex(digest_kind::md5, "hello") == "5d41402abc4b2a76b9719d911017c592");
  CHECK(digest_hex(digest_kind::sha1, "hello") == "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d");
  CHECK(digest_hex(digest_kind::sha224, "hello") ==
        "ea09ae9cc6768c50fcee903ed054556e5bfc8347907f12598aa24193");
  CHECK(digest_hex(digest_kind::sha256, "abc") == sha256_hex("abc"));
  CHECK(digest_hex(digest_kind::sha512, "").starts_with("cf83e1357eefb8bdf1542850d66d8007"));
}

TEST_CASE("only 64 lower-case hex digits may name a blob") {
  CHECK(is_sha256_hex(sha256_hex("x")));
  CHECK(!is_sha256_hex("../../etc/passwd"));
  CHECK(!is_sha256_hex(std::string(63, 'a')));
  CHECK(!is_sha256_hex(std::string(64, 'A')));
}

} // TEST_SUITE("base/digest")

} // namespace headrace
