#include "libstate/checkpoint/local_copy_book.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace headrace::state {
namespace {

using removal = local_copy_book::removal;

TEST_SUITE_BEGIN("state/checkpoint/local_copy_book");

TEST_CASE("a completed checkpoint replaces those before it, and leaves those behind it") {
  local_copy_book book;
  for (const checkpoint_id id : {1, 2, 3})
    CHECK(book.begin(id) == removal{});

  CHECK(book.complete(2) == removal{{1}, {}});

  CHECK(book.keeps(2));
  CHECK(book.keeps(3));
  CHECK(book.complete(2) == removal{});
}

TEST_CASE("an aborted checkpoint's copy goes, and a later word of it changes nothing") {
  local_copy_book book;
  book.begin(1);
  book.complete(1);
  book.begin(2);

  CHECK(book.abort(2) == removal{{2}, {}});
  CHECK(book.abort(2) == removal{});
  CHECK(book.keeps(1));
}

TEST_CASE("a completed checkpoint without a copy makes older copies useless") {
  local_copy_book book;
  book.begin(1);
  book.complete(1);
  book.begin(2);
  book.abort(2); // its copy could not be written

  CHECK(book.complete(2) == removal{{1}, {}});
}

TEST_CASE("a shared file goes with the last copy that names it") {
  local_copy_book book;
  book.begin(1);
  book.use(1, "a");
  book.use(1, "b");
  book.begin(2);
  book.use(2, "b");
  book.use(2, "c");

  CHECK(book.complete(2) == removal{{1}, {"a"}});
  CHECK(book.keeps_shared("b"));
  book.begin(3);
  book.use(3, "c");
  CHECK(book.abort(3) == removal{{3}, {}});
  CHECK(book.begin(4) == removal{});
  CHECK(book.complete(4) == removal{{2}, {"b", "c"}});
}

TEST_CASE("of copies whose outcome nobody tells the oldest go, but not the completed one") {
  local_copy_book book;
  book.begin(1);
  book.complete(1);
  for (checkpoint_id id = 2; id < 2 + static_cast<checkpoint_id>(local_copy_book::pending_max);
       ++id)
    CHECK(book.begin(id) == removal{});

  CHECK(book.begin(100) == removal{{2}, {}});
  CHECK(book.keeps(1));
  CHECK(book.keeps(3));
}

TEST_CASE("what a subtask is restored from is kept until the next checkpoint is complete") {
  local_copy_book book;
  book.restore(7, {"a", "b"});
  CHECK(book.keeps(7));
  book.begin(8);
  book.use(8, "b");

  CHECK(book.complete(8) == removal{{7}, {"a"}});

  local_copy_book fresh;
  fresh.restore(0, {});
  CHECK(!fresh.keeps(0));
}

TEST_CASE("files of a copy that was dropped meanwhile are not taken up") {
  local_copy_book book;
  book.begin(1);
  book.abort(1);
  book.use(1, "a");
  CHECK(!book.keeps_shared("a"));
}

TEST_SUITE_END();

} // namespace
} // namespace headrace::state
