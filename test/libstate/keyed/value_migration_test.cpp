#include "libstate/keyed/value_migration.hpp"

#include "test/support/seed.hpp"
#include "libgraph/api/type_info.hpp"
#include "libactors/base/random.hpp"

#include <doctest/doctest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headrace::state {
namespace {

using graph::logical_type;

struct point {
  std::int32_t x = 0;
  float y = 0;
};
HEADRACE_STRUCT(point, x, y)

struct visit {
  std::int32_t count = 0;
  std::string page;
  std::vector<point> path;
  std::int16_t gone = 0;
  std::map<std::string, std::int32_t> hits;
};
HEADRACE_STRUCT(visit, count, page, path, gone, hits)

struct wider_point {
  double y = 0;
  std::int64_t x = 0;
  std::optional<std::string> label;
};
HEADRACE_STRUCT(wider_point, y, x, label)

struct later_visit {
  std::optional<std::string> referrer;
  std::int64_t count = 0;
  std::vector<wider_point> path;
  std::int64_t version = 7;
  std::optional<std::string> page;
  std::map<std::string, std::int64_t> hits;
  std::string agent = "unknown";
};
HEADRACE_STRUCT(later_visit, referrer, count, path, version, page, hits, agent)

template <class T>
state_description described(table_kind kind = table_kind::value) {
  state_description out;
  out.name = "visits";
  out.kind = kind;
  out.value_type = api::info_of<T>::type();
  out.entry_key_type = graph::logical_type::null();
  return out;
}

template <class From, class To>
To migrated(const From& value, const byte_string& defaults = {}) {
  const auto stored = described<From>();
  const auto wanted = described<To>();
  const auto fit = check_migratable(stored, wanted);
  if (!fit)
    FAIL(to_string(fit.error()));
  byte_string out;
  const auto done = value_migration(stored.value_type, wanted.value_type, defaults)
                        .rewrite(api::encoded(value), out);
  if (!done)
    FAIL(to_string(done.error()));
  return api::decoded<To>(out);
}

template <class From, class To>
std::string refusal() {
  const auto fit = check_migratable(described<From>(), described<To>());
  REQUIRE(!fit);
  CHECK(fit.error().code == errc::incompatible_state);
  return fit.error().message;
}

} // namespace

TEST_SUITE("state/keyed/value_migration") {

TEST_CASE("numbers are widened") {
  CHECK(migrated<std::int8_t, std::int64_t>(-5) == -5);
  CHECK(migrated<std::int16_t, std::int32_t>(-300) == -300);
  CHECK(migrated<std::int32_t, std::int64_t>(-70'000) == -70'000);
  CHECK(migrated<float, double>(1.5F) == 1.5);
  CHECK(migrated<std::int32_t, double>(7) == 7.0);
  CHECK(migrated<std::int32_t, std::optional<std::int64_t>>(7) == 7);
  CHECK(migrated<api::decimal<10, 2>, api::decimal<14, 4>>({{12'345}}).unscaled == 1'234'500);
}

TEST_CASE("fields are added, removed, moved and widened, also inside lists and maps") {
  const visit before{3, "home", {{1, 1.5F}, {2, 2.5F}}, 9, {{"a", 1}, {"b", 2}}};

  const auto after = migrated<visit, later_visit>(before, api::encoded(later_visit{}));

  CHECK(!after.referrer);
  CHECK(after.count == 3);
  CHECK(after.version == 7);
  CHECK(after.page == "home");
  CHECK(after.agent == "unknown");
  CHECK(after.hits == std::map<std::string, std::int64_t>{{"a", 1}, {"b", 2}});
  REQUIRE(after.path.size() == 2);
  CHECK(after.path[1].x == 2);
  CHECK(after.path[1].y == 2.5);
  CHECK(!after.path[1].label);
}

TEST_CASE("without defaults added fields are NULL, zero or empty") {
  const auto after = migrated<visit, later_visit>({1, "p", {}, 0, {}});

  CHECK(after.version == 0);
  CHECK(after.agent.empty());
  CHECK(!after.referrer);
}

TEST_CASE("a default is found inside an optional struct") {
  using before = std::optional<point>;
  using after = std::optional<wider_point>;
  const wider_point fresh{0, 0, "new"};
  CHECK(migrated<before, after>(point{4, 0.5F}, api::encoded(after(fresh)))->label == "new");
  CHECK(!migrated<before, after>(point{4, 0.5F}, api::encoded(after()))->label);
  CHECK(!migrated<before, after>(std::nullopt, api::encoded(after(fresh))));
}

TEST_CASE("what would lose something is refused, with the field and the difference") {
  CHECK(refusal<std::int64_t, std::int32_t>() ==
        "state is incompatible with the restored one: `visits`, value: was BIGINT NOT NULL, is INT "
        "NOT NULL");
  CHECK(refusal<std::int64_t, double>().find("was BIGINT") != std::string::npos);
  CHECK(refusal<double, float>().find("was DOUBLE") != std::string::npos);
  CHECK(refusal<std::optional<std::int32_t>, std::int32_t>().find("value: may have been NULL") !=
        std::string::npos);
  CHECK(refusal<later_visit, visit>().find("value.count: was BIGINT NOT NULL, is INT NOT NULL") !=
        std::string::npos);
  using lists = std::vector<wider_point>;
  CHECK(refusal<lists, std::vector<point>>().find("value[].x") != std::string::npos);
  using by_name = std::map<std::string, std::int32_t>;
  using by_number = std::map<std::int32_t, std::int32_t>;
  CHECK(refusal<by_name, by_number>().find("value key: was STRING") != std::string::npos);
  CHECK(refusal<api::decimal<10, 2>, api::decimal<10, 4>>().find("DECIMAL") != std::string::npos);
}

TEST_CASE("kinds, keys of map states and rows of built-in operators stay as they are") {
  CHECK(!check_migratable(described<point>(), described<point>(table_kind::list)));
  auto map = described<std::int32_t>(table_kind::map);
  auto other = described<std::int64_t>(table_kind::map);
  map.entry_key_type = graph::logical_type::integer();
  other.entry_key_type = graph::logical_type::bigint();
  const auto refused = check_migratable(map, other);
  REQUIRE(!refused);
  CHECK(refused.error().message.find("map key") != std::string::npos);
  CHECK(!check_migratable(described<std::int32_t>(table_kind::operator_rows),
                          described<std::int64_t>(table_kind::operator_rows)));
  CHECK(check_migratable(described<point>(), described<point>()).value() == state_fit::as_is);
}

TEST_CASE("elements of a list are rewritten one by one, with their stamps") {
  byte_string stored;
  byte_writer to(stored);
  for (const std::int32_t value : {1, 2}) {
    to.put(std::int64_t{100 + value});
    to.put_bytes(api::encoded(value));
  }
  const value_migration migration(graph::logical_type::integer().not_null(),
                                  graph::logical_type::bigint().not_null(), {});
  byte_string out;

  REQUIRE(rewrite_elements(stored, {true, true, 0}, &migration, out));

  byte_reader in(out);
  CHECK(*in.get<std::int64_t>() == 101);
  CHECK(api::decoded<std::int64_t>(*in.get_bytes()) == 1);
  CHECK(*in.get<std::int64_t>() == 102);
  CHECK(api::decoded<std::int64_t>(*in.get_bytes()) == 2);
  CHECK(in.at_end());
  REQUIRE(rewrite_elements(stored, {true, false, 0}, nullptr, out));
  CHECK(out.size() == 2 * 5);
}

TEST_CASE("bytes that are no value of their type give an error, never more") {
  const value_migration migration(api::info_of<visit>::type(), api::info_of<later_visit>::type(),
                                  api::encoded(later_visit{}));
  const auto whole = api::encoded(visit{3, "home", {{1, 1.5F}, {2, 2.5F}}, 9, {{"a", 1}}});
  byte_string out;
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK(!migration.rewrite(whole.substr(0, size), out));
  CHECK(!migration.rewrite(whole + "x", out));
  CAPTURE(testing::seed());
  const auto random = make_seeded_random(testing::seed());
  for (int run = 0; run < 2'000; ++run) {
    auto bytes = whole;
    for (int change = 0; change < 3; ++change)
      bytes[random->below(bytes.size())] = static_cast<char>(random->below(256));
    static_cast<void>(migration.rewrite(bytes, out).has_value());
  }
}

TEST_CASE("bytes whose content was not described yet are taken, but for those with a stamp") {
  const auto bytes = logical_type::bytes();
  const logical_type::field written{"$written", logical_type::bigint(), {}};
  const auto described = [](const logical_type& type) {
    state_description out;
    out.name = "kept";
    out.value_type = type;
    return out;
  };
  const auto count = described(bytes_of({{"COUNT(*)", logical_type::bigint(), {}}}));
  const auto sum = described(bytes_of({{"SUM(INT)", logical_type::integer(), {}}}));
  const auto stamped = described(bytes_of({{"COUNT(*)", logical_type::bigint(), {}}, written}));

  CHECK(check_compatible(count, count));
  CHECK(check_compatible(described(bytes), count));
  CHECK(check_compatible(described(logical_type::row({{"carried", bytes, {}}, written})), stamped));
  CHECK(!check_compatible(described(bytes), stamped));
  CHECK(!check_compatible(described(logical_type::row({{"carried", bytes, {}}, written})), count));
  CHECK(!check_compatible(count, stamped));
  CHECK(check_compatible(count, sum).error().message ==
        "state is incompatible with the restored one: `kept`, value: field 0 was `COUNT(*)`, is "
        "`SUM(INT)`; go on with the query and its settings (as time to live, mini-batches) as they "
        "were, or begin without the checkpoint");
}

} // TEST_SUITE("state/keyed/value_migration")

} // namespace headrace::state
