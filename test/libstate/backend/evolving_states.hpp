#pragma once

#include "test/libstate/backend/evolving_record.hpp"
#include "libstate/backend/keyed_backend.hpp"
#include "libstate/timer/timer_service.hpp"
#include "libactors/base/random.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace headrace::testing {

using nullable_key = std::optional<std::int64_t>;

/// What is in the states of an operator, of every kind, as a model has it.
struct contents {
  std::map<nullable_key, record> values;
  std::map<nullable_key, record> reduced;
  std::map<nullable_key, record> aggregated;
  std::map<nullable_key, std::vector<record>> lists;
  std::map<nullable_key, std::map<std::string, record>> maps;
  std::map<std::pair<std::int64_t, nullable_key>, std::int64_t> sums;
  std::map<std::pair<std::int64_t, nullable_key>, std::string> texts;
  std::set<std::pair<std::int64_t, nullable_key>> timers;
  friend bool operator==(const contents&, const contents&) = default;
};

/// A user's state as one version of the program declares it.
struct user_state {
  std::string name;
  graph::state_kind kind;
  record_schema schema;
  bool has_ttl = false;

  graph::state_descriptor described() const;
};

/// What a program declares.
struct declarations {
  explicit declarations(random_source& random)
      : value{"v", graph::state_kind::value, record_schema(random), true},
        reduced{"r", graph::state_kind::reducing, record_schema(random)},
        aggregated{"a", graph::state_kind::aggregating, record_schema(random)},
        list{"l", graph::state_kind::list, record_schema(random), true},
        map{"m", graph::state_kind::map, record_schema(random)} {}

  /// Declares some states otherwise: what is stored becomes what the model says then.
  /// @returns how many have another type
  int change(random_source& random, contents& model);

  user_state value;
  user_state reduced;
  user_state aggregated;
  user_state list;
  user_state map;
};

/// One subtask: its backend and all states.
struct subtask_states {
  std::unique_ptr<state::keyed_backend> backend;
  graph::value_access* value = nullptr;
  graph::value_access* reduced = nullptr;
  graph::value_access* aggregated = nullptr;
  graph::list_access* list = nullptr;
  graph::map_access* map = nullptr;
  state::keyed_table* sums = nullptr;
  state::keyed_table* texts = nullptr;
  std::unique_ptr<state::timer_service> timers;

  void open(const declarations& as);
};

} // namespace headrace::testing
