#include "test/libstate/backend/evolving_states.hpp"

#include "test/libstate/state_fixture.hpp"

#include <algorithm>

namespace headrace::testing {

graph::state_descriptor user_state::described() const {
  graph::state_descriptor out;
  out.name = name;
  out.kind = kind;
  out.value_type = schema.type();
  out.key_type = graph::logical_type::string();
  out.ttl_ms = has_ttl ? 1'000'000 : 0; // the clock stands still
  out.default_value = schema.defaults();
  return out;
}

int declarations::change(random_source& random, contents& model) {
  int changes = 0;
  const auto change_one = [&](user_state& one, auto for_each) {
    if (random.below(6) == 0)
      one.has_ttl = !one.has_ttl;
    if (random.below(3) > 0)
      return;
    ++changes;
    one.schema.evolve(random);
    for_each([&](record& stored) { stored = one.schema.migrated(stored); });
  };
  const auto each_of = [](auto& records) {
    return [&](auto visit) {
      for (auto& [name, stored] : records)
        visit(stored);
    };
  };
  change_one(value, each_of(model.values));
  change_one(reduced, each_of(model.reduced));
  change_one(aggregated, each_of(model.aggregated));
  change_one(list, [&](auto visit) {
    for (auto& [name, stored] : model.lists)
      std::for_each(stored.begin(), stored.end(), visit);
  });
  change_one(map, [&](auto visit) {
    for (auto& [name, entries] : model.maps) {
      for (auto& [entry, stored] : entries)
        visit(stored);
    }
  });
  return changes;
}

void subtask_states::open(const declarations& as) {
  value = &backend->value(as.value.described());
  reduced = &backend->value(as.reduced.described());
  aggregated = &backend->value(as.aggregated.described());
  list = &backend->list(as.list.described());
  map = &backend->map(as.map.described());
  sums = take(backend->open_table(testing::sums()));
  texts = take(backend->open_table(testing::texts()));
  timers = take(open_timer_service(*backend, graph::time_domain::event));
  check_ok(backend->settle_restored(false));
}

} // namespace headrace::testing
