#include "libtask/connector/file/block_pool.hpp"

#include <doctest/doctest.h>

#include <set>

namespace headrace::task {

TEST_SUITE("task/connector/file/block_pool") {

TEST_CASE("a block is given again when nobody holds it") {
  block_pool pool;
  auto first = pool.take(1000);
  const auto* const place = first->data();
  CHECK(first->size_bytes() >= 1000);

  auto held = pool.take(1000);
  CHECK(held->data() != place);

  const graph::buffer_ptr reader = first; // as a column's strings do
  first.reset();
  CHECK(pool.take(1000)->data() != place);
  CHECK(pool.take(1000).use_count() == 2);
}

TEST_CASE("what was let go is taken, if it is large enough") {
  block_pool pool;
  const auto* const place = pool.take(1000)->data();

  CHECK(pool.take(1010)->data() == place);
  CHECK(pool.take(2000)->data() != place);
  CHECK(pool.take(10)->data() == place);
}

TEST_CASE("no more blocks are kept than the limit, and those that are held stay whole") {
  block_pool pool;
  std::vector<std::shared_ptr<graph::buffer>> held;
  std::set<const std::byte*> places;
  for (std::size_t i = 0; i < 3 * block_pool::blocks_max; ++i) {
    held.push_back(pool.take(64));
    held.back()->mutable_data()[0] = static_cast<std::byte>(i);
    places.insert(held.back()->data());
  }
  CHECK(places.size() == held.size());
  for (std::size_t i = 0; i < held.size(); ++i)
    CHECK(held[i]->data()[0] == static_cast<std::byte>(i));
  std::size_t kept = 0;
  for (const auto& each : held)
    kept += each.use_count() == 2 ? 1 : 0;
  CHECK(kept == block_pool::blocks_max);

  pool.clear();
  for (const auto& each : held)
    CHECK(each.use_count() == 1);
}

} // TEST_SUITE("task/connector/file/block_pool")

} // namespace headrace::task
