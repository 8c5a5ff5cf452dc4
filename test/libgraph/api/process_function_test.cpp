#include "libgraph/api/process_function.hpp"

#include "test/libgraph/api/testing_values.hpp"

#include <doctest/doctest.h>

#include <map>
#include <set>

using namespace headrace;
using namespace headrace::testing;

TEST_SUITE_BEGIN("graph/api/process_function");

namespace {

/// States of several keys in maps; `key` is the current one.
class testing_states final : public graph::state_provider {
public:
  std::string key;
  std::vector<graph::state_descriptor> descriptors;

  graph::value_access& value(const graph::state_descriptor& descriptor) override {
    descriptors.push_back(descriptor);
    return *values_.emplace_back(std::make_unique<values>(key));
  }
  graph::list_access& list(const graph::state_descriptor& descriptor) override {
    descriptors.push_back(descriptor);
    return *lists_.emplace_back(std::make_unique<lists>(key));
  }
  graph::map_access& map(const graph::state_descriptor& descriptor) override {
    descriptors.push_back(descriptor);
    return *maps_.emplace_back(std::make_unique<maps>(key));
  }

private:
  struct values final : graph::value_access {
    explicit values(const std::string& current) : key(current) {}
    std::optional<byte_view> get() override {
      const auto found = held.find(key);
      return found == held.end() ? std::nullopt : std::optional<byte_view>(found->second);
    }
    void put(byte_view value) override { held[key] = value; }
    void clear() override { held.erase(key); }
    const std::string& key;
    std::map<std::string, byte_string> held;
  };
  struct lists final : graph::list_access {
    explicit lists(const std::string& current) : key(current) {}
    std::size_t size() override { return held[key].size(); }
    byte_view at(std::size_t index) override { return held[key].at(index); }
    void add(byte_view element) override { held[key].emplace_back(element); }
    void clear() override { held.erase(key); }
    const std::string& key;
    std::map<std::string, std::vector<byte_string>> held;
  };
  struct maps final : graph::map_access {
    explicit maps(const std::string& current) : key(current) {}
    std::optional<byte_view> get(byte_view entry) override {
      const auto found = held[key].find(std::string(entry));
      return found == held[key].end() ? std::nullopt : std::optional<byte_view>(found->second);
    }
    void put(byte_view entry, byte_view value) override { held[key][std::string(entry)] = value; }
    void remove(byte_view entry) override { held[key].erase(std::string(entry)); }
    void clear() override { held.erase(key); }
    bool is_empty() override { return held[key].empty(); }
    void for_each(bool (*visit)(void*, byte_view, byte_view), void* context) override {
      for (const auto& [entry, value] : held[key])
        if (!visit(context, entry, value))
          return;
    }
    const std::string& key;
    std::map<std::string, std::map<std::string, byte_string>> held;
  };

  std::vector<std::unique_ptr<values>> values_;
  std::vector<std::unique_ptr<lists>> lists_;
  std::vector<std::unique_ptr<maps>> maps_;
};

/// Takes the key of a row from a column, and notes timers.
class testing_keyed_context final : public graph::keyed_context {
public:
  testing_keyed_context(testing_states& states, const graph::record_batch& in, std::size_t column)
      : states_(states), in_(in), column_(column) {}
  void set_row(std::size_t row) override {
    states_.key = in_.at(column_).string_at(in_.row_at(row));
  }
  std::int32_t current_key_group() const override { return 5; }
  std::int64_t current_watermark() const override { return 77; }
  std::int64_t current_processing_time() const override { return 88; }
  void register_event_timer(std::int64_t time_ms) override {
    event_timers.emplace(states_.key, time_ms);
  }
  void register_processing_timer(std::int64_t) override {}
  void delete_event_timer(std::int64_t time_ms) override {
    event_timers.erase({states_.key, time_ms});
  }
  void delete_processing_timer(std::int64_t) override {}
  void for_each_key(const graph::state_access&,
                    void (*)(void*, const graph::record_batch&, std::size_t), void*) override {}

  std::set<std::pair<std::string, std::int64_t>> event_timers;

private:
  testing_states& states_;
  const graph::record_batch& in_;
  std::size_t column_;
};

struct longest : api::aggregate_function<std::string, std::string, std::int64_t> {
  void add(const std::string& in, std::string& into) override {
    if (in.size() > into.size())
      into = in;
  }
  void merge(std::string& into, const std::string& from) override { add(from, into); }
  std::int64_t result(const std::string& of) override {
    return static_cast<std::int64_t>(of.size());
  }
};

const api::output_tag<std::int64_t> totals{"totals"};

/// Uses every kind of state.
struct counting : api::keyed_process_function<std::string, word_count, word_count> {
  void open(api::open_context& context) override {
    count = context.value<std::int64_t>("count", std::chrono::seconds(5));
    seen = context.list<std::int64_t>("seen");
    by_value = context.map<std::int64_t, std::string>("by value");
    sum = context.reducing<std::int64_t>("sum", [](auto left, auto right) { return left + right; });
    width = context.aggregating<longest>("width");
  }
  void process(const word_count& in, context_type& context,
               api::collector<word_count>& out) override {
    count.set(count.value_or(0) + 1);
    seen.add(in.count);
    by_value.put(in.count, in.word);
    sum.add(in.count);
    width.add(in.word);
    context.register_event_timer(context.timestamp() + 100);
    out.emit({context.key(), *count.get()});
  }
  void on_timer(std::int64_t time_ms, context_type& context,
                api::collector<word_count>& out) override {
    context.output(totals, *sum.get());
    std::int64_t keys = 0;
    by_value.for_each([&](std::int64_t key, const std::string&) { keys += key; });
    out.emit({context.key() + "@" + std::to_string(time_ms), keys});
    count.clear();
  }
  api::value_state<std::int64_t> count;
  api::list_state<std::int64_t> seen;
  api::map_state<std::int64_t, std::string> by_value;
  api::reducing_state<std::int64_t> sum;
  api::aggregating_state<longest> width;
};

} // namespace

TEST_CASE("a keyed function has states and timers of each row's key") {
  api::environment env;
  const auto out =
      env.from_collection(std::vector<word_count>{}).key_by(&word_count::word).process(counting());
  out.side_output(totals);
  const auto spec = spec_of<graph::keyed_process_spec>(out);
  auto function = function_at<graph::keyed_process_function>(env, spec.function);
  testing_states states;
  graph::function_context opening;
  opening.keyed_state = &states;
  const auto in = batch_of<word_count>({{"a", 1}, {"b", 2}, {"a", 3}, {"a", 3}}, {10, 20, 30, 40});
  testing_keyed_context keyed(states, in, 0);
  graph::batch_builder main(row_type_of<word_count>());
  std::vector<graph::batch_builder> sides;
  sides.emplace_back(row_type_of<std::int64_t>());
  graph::function_output output(main, sides, 3, 1U << 20U);

  function->open(opening);
  const auto stopped = function->process(in, 0, keyed, output);
  const auto first = main.finish();
  const auto ended = function->process(in, stopped, keyed, output);
  const auto second = main.finish();
  states.key = "a";
  function->on_timer(140, graph::time_domain::event, batch_of<std::string>({"x", "a"}), 1, keyed,
                     output);
  const auto timed = main.finish();

  CHECK(stopped == 3);
  CHECK(ended == 4);
  CHECK(values_of<word_count>(first) == std::vector<word_count>{{"a", 1}, {"b", 1}, {"a", 2}});
  CHECK(values_of<word_count>(second) == std::vector<word_count>{{"a", 3}});
  CHECK(second.timestamps()[0] == 40);
  CHECK(keyed.event_timers == std::set<std::pair<std::string, std::int64_t>>{
                                  {"a", 110}, {"a", 130}, {"a", 140}, {"b", 120}});
  CHECK(values_of<word_count>(timed) == std::vector<word_count>{{"a@140", 4}});
  CHECK(timed.timestamps()[0] == 140);
  CHECK(values_of<std::int64_t>(sides[0].finish()) == std::vector<std::int64_t>{7});
}

TEST_CASE("states are described by name, kind, types and time to live") {
  counting function;
  testing_states states;
  graph::function_context opening;
  opening.keyed_state = &states;
  api::open_context context(opening);

  function.open(context);

  REQUIRE(states.descriptors.size() == 5);
  CHECK(states.descriptors[0].name == "count");
  CHECK(states.descriptors[0].ttl_ms == 5000);
  CHECK(states.descriptors[0].value_type == graph::logical_type::bigint().not_null());
  CHECK(states.descriptors[2].kind == graph::state_kind::map);
  CHECK(states.descriptors[2].key_type == graph::logical_type::bigint().not_null());
  CHECK(states.descriptors[3].kind == graph::state_kind::reducing);
  CHECK(states.descriptors[4].kind == graph::state_kind::aggregating);
}

TEST_CASE("handles give back what was put, key by key") {
  testing_states states;
  graph::function_context opening;
  opening.keyed_state = &states;
  api::open_context context(opening);
  auto list = context.list<word_count>("list");
  auto map = context.map<std::string, word_count>("map");
  auto width = context.aggregating<longest>("width");

  states.key = "x";
  list.set({{"a", 1}, {"b", 2}});
  map.put("k", {"v", 3});
  width.add("long");
  width.add("er");

  CHECK(list.get() == std::vector<word_count>{{"a", 1}, {"b", 2}});
  CHECK(map.get("k") == word_count{"v", 3});
  CHECK(width.get() == 4);
  states.key = "y";
  CHECK(list.is_empty());
  CHECK_FALSE(map.contains("k"));
  CHECK_FALSE(width.get().has_value());
  states.key = "x";
  map.remove("k");
  list.clear();
  CHECK(map.is_empty());
  CHECK(list.is_empty());
}

TEST_CASE("keyed state on a stream without key is refused in words") {
  const graph::function_context opening;
  api::open_context context(opening);

  CHECK_THROWS_AS(context.value<bool>("x"), graph::failure);
}

TEST_SUITE_END();
