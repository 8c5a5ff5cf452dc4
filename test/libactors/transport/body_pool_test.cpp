#include "libactors/transport/body_pool.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace headrace::actors {

TEST_SUITE("actors/transport/body_pool") {

TEST_CASE("memory that was given back is given again, the last first") {
  body_pool pool;
  auto first = pool.take(200'000);
  auto second = pool.take(200'000);
  const auto* first_at = first.data();
  const auto* second_at = second.data();
  CHECK(reinterpret_cast<std::uintptr_t>(first_at) % aligned_bytes::alignment == 0);

  first = {};
  second = {};
  CHECK(pool.kept_bytes() >= 400'000);
  const auto third = pool.take(196'609); // of the same step
  CHECK(third.view().data() == second_at);
  CHECK(third.size() == 196'609);
  const auto fourth = pool.take(200'000);
  CHECK(fourth.view().data() == first_at);
  CHECK(pool.kept_bytes() == 0);
}

TEST_CASE("a body of another size gets other memory") {
  body_pool pool;
  pool.take(200'000) = {};
  const auto kept = pool.kept_bytes();
  auto larger = pool.take(400'000);
  std::memset(larger.data(), 1, larger.size());
  CHECK(pool.kept_bytes() == kept);
}

TEST_CASE("what is shared is given back with its last holder, though the pool is gone") {
  shared_bytes held;
  {
    body_pool pool;
    auto body = pool.take(100'000);
    std::memset(body.data(), 7, body.size());
    held = body.share();
    body = {};
    CHECK(pool.kept_bytes() == 0);
  }
  CHECK(held.view.back() == 7);
}

TEST_CASE("no more is kept than the limit, and neither small nor large bodies") {
  body_pool pool;
  pool.take(0) = {};
  pool.take(body_pool::body_bytes_least - 1) = {};
  pool.take(body_pool::body_bytes_most + 1) = {};
  CHECK(pool.kept_bytes() == 0);

  std::vector<aligned_bytes> bodies;
  for (int i = 0; i < 100; ++i) {
    bodies.push_back(pool.take(body_pool::body_bytes_most));
  }
  bodies.clear();
  CHECK(pool.kept_bytes() == body_pool::kept_bytes_max);
}

} // TEST_SUITE("actors/transport/body_pool")

} // namespace headrace::actors
