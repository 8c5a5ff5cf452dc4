#include "libtask/mailbox/state_figures.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <utility>
#include <vector>

namespace headrace::task {
namespace {

class fixed_figures final : public state::backend_figures {
public:
  explicit fixed_figures(std::vector<state::backend_figure> told) : told_(std::move(told)) {}
  std::vector<state::backend_figure> read() const override { return told_; }

private:
  std::vector<state::backend_figure> told_;
};

TEST_SUITE_BEGIN("task/mailbox/state_figures");

TEST_CASE("figures of a subtask's backends are summed, but those of what they share") {
  state_figures figures;
  CHECK(!figures.has_sources());
  figures.add(nullptr);
  CHECK(!figures.has_sources());
  figures.add(std::make_shared<fixed_figures>(std::vector<state::backend_figure>{
      {"rocksdb.num-running-flushes", 1}, {"rocksdb.block-cache-usage", 100}}));
  figures.add(std::make_shared<fixed_figures>(std::vector<state::backend_figure>{
      {"rocksdb.num-running-flushes", 2}, {"rocksdb.block-cache-usage", 120}}));
  CHECK(figures.has_sources());
  CHECK(figures.newest().empty());

  figures.sample();

  CHECK(figures.newest() == std::vector<state::backend_figure>{{"rocksdb.block-cache-usage", 120},
                                                               {"rocksdb.num-running-flushes", 3}});
}

TEST_SUITE_END();

} // namespace
} // namespace headrace::task
