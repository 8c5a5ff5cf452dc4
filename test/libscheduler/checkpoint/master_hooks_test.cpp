#include "libscheduler/checkpoint/master_hooks.hpp"

#include "libgraph/connector/sink.hpp"
#include "libgraph/connector/source.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace headrace::scheduler {
namespace {

using calls = std::vector<std::string>;

class noting_hook final : public graph::master_hook {
public:
  noting_hook(std::string name, std::shared_ptr<calls> into)
      : name_(std::move(name)), into_(std::move(into)) {}
  byte_string trigger_checkpoint(checkpoint_id checkpoint, std::int64_t timestamp_ms) override {
    if (checkpoint == 13)
      throw std::runtime_error("unlucky");
    into_->push_back(name_ + " triggers " + std::to_string(checkpoint) + " at " +
                     std::to_string(timestamp_ms));
    return byte_string(name_ + " of " + std::to_string(checkpoint));
  }
  void restore_checkpoint(checkpoint_id checkpoint, byte_view state) override {
    into_->push_back(name_ + " restores " + std::to_string(checkpoint) + ": " + std::string(state));
  }
  void reset() override { into_->push_back(name_ + " resets"); }
  void close() override {
    into_->push_back(name_ + " closes");
    throw std::runtime_error("nobody hears it");
  }

private:
  std::string name_;
  std::shared_ptr<calls> into_;
};

class code_of final : public graph::job_code_loader {
public:
  explicit code_of(graph::function_table functions) {
    auto made = std::make_shared<graph::job_code>();
    made->functions = std::move(functions);
    code_ = std::move(made);
  }
  result<std::shared_ptr<const graph::job_code>>
  load(const std::string&, const std::vector<std::string>&, const std::string&) override {
    ++loads;
    return code_;
  }
  int loads = 0;

private:
  std::shared_ptr<const graph::job_code> code_;
};

struct hooks_fixture {
  std::shared_ptr<calls> heard = std::make_shared<calls>();
  code_of code{{[this] { return graph::any_function(std::make_unique<noting_hook>("a", heard)); },
                [this] { return graph::any_function(std::make_unique<noting_hook>("b", heard)); },
                [] { return graph::any_function(std::unique_ptr<graph::row_function>()); }}};

  std::shared_ptr<const graph::job_graph> job(std::vector<graph::master_hook_spec> hooks) const {
    auto out = std::make_shared<graph::job_graph>();
    out->checkpoints.master_hooks = std::move(hooks);
    return out;
  }
};

} // namespace

TEST_SUITE("scheduler/checkpoint/master_hooks") {
TEST_CASE_FIXTURE(hooks_fixture, "hooks are called in order, and get back what they gave") {
  master_hooks hooks(job({{"first", 0}, {"second", 1}}), &code, "/artifacts");

  const auto states = hooks.trigger(7, 1000);
  REQUIRE(states);
  CHECK(*states == master_hook_states{{"first", "a of 7"}, {"second", "b of 7"}});
  const auto stored = decode_hook_states(encode_hook_states(*states));
  REQUIRE(stored);
  CHECK(*stored == *states);
  REQUIRE(hooks.restore(7, {{"second", "b of 7"}, {"dropped", "x"}}));
  hooks.close();

  CHECK(*heard == calls{"a triggers 7 at 1000", "b triggers 7 at 1000", "a resets", "b resets",
                        "b restores 7: b of 7", "a closes", "b closes"});
  CHECK(code.loads == 1);
}

TEST_CASE_FIXTURE(hooks_fixture, "what a hook throws is told with its name") {
  master_hooks hooks(job({{"first", 0}}), &code, "/artifacts");
  const auto states = hooks.trigger(13, 0);
  REQUIRE(!states);
  CHECK(states.error().code == errc::user_function_failed);
  CHECK(states.error().message == "master hook `first` failed to trigger a checkpoint: unlucky");
  CHECK(hooks.trigger(14, 0).has_value());
}

TEST_CASE_FIXTURE(hooks_fixture, "code without the hook is refused") {
  CHECK(master_hooks(job({{"x", 9}}), &code, "").trigger(1, 0).error().code ==
        errc::job_object_incompatible);
  CHECK(master_hooks(job({{"x", 2}}), &code, "").trigger(1, 0).error().code ==
        errc::job_object_incompatible);
  CHECK(master_hooks(job({{"x", 0}}), nullptr, "").trigger(1, 0).error().code ==
        errc::job_object_unloadable);
}

TEST_CASE("state of a hook that the job has not is refused, unless it may be dropped") {
  graph::checkpoint_spec spec;
  spec.master_hooks = {{"first", 0}, {"new", 1}};
  CHECK(check_hook_states({{"first", "1"}}, spec).has_value());
  const auto refused = check_hook_states({{"first", "1"}, {"gone", "2"}}, spec);
  REQUIRE(!refused);
  CHECK(refused.error().code == errc::incompatible_state);
  CHECK(refused.error().message.find("`gone`") != std::string::npos);
  spec.allow_non_restored_state = true;
  CHECK(check_hook_states({{"gone", "2"}}, spec).has_value());
}

TEST_CASE("hooks' states that are cut off are noticed") {
  CHECK(encode_hook_states({}).empty());
  const auto whole = encode_hook_states({{"first", "1"}, {"second", "22"}});
  for (std::size_t size = 1; size < whole.size(); ++size)
    CHECK(!decode_hook_states(byte_view(whole).substr(0, size)));
}
} // TEST_SUITE("scheduler/checkpoint/master_hooks")

} // namespace headrace::scheduler
