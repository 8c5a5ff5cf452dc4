#include "libgraph/spec/make_source.hpp"

#include "libgraph/connector/abilities.hpp"
#include "libgraph/connector/generator_source.hpp"

#include <doctest/doctest.h>

#include <memory>

namespace headrace::graph {
namespace {

logical_type whole() {
  return logical_type::row({{"a", logical_type::integer(), ""}, {"b", logical_type::string(), ""}})
      .not_null();
}
logical_type part() { return logical_type::row({{"b", logical_type::string(), ""}}).not_null(); }

/// Connectors that give all, and that give what is read; both take the option `x` alone.
connector_registry make_registry() {
  connector_registry out;
  for (const bool is_able : {false, true})
    out.add_source(is_able ? "able" : "plain",
                   [is_able](const connector_registry&, const option_map& options,
                             row_type_ptr type) -> result<std::unique_ptr<source>> {
                     CHECK(options == option_map{{"x", "1"}});
                     CHECK(*type == whole());
                     return std::unique_ptr<source>(std::make_unique<generator_source>(
                         std::move(type), generator_options{}, nullptr, is_able));
                   });
  return out;
}

source_spec spec_of(const char* connector) {
  source_spec out;
  out.connector.name = connector;
  out.connector.options = {{"x", "1"}};
  return out;
}

} // namespace

TEST_SUITE("graph/spec/make_source") {
TEST_CASE("a source gives all of its connector's records, or a part of them") {
  const auto registry = make_registry();
  auto spec = spec_of("able");
  const auto all = make_source(registry, spec, whole());
  REQUIRE(all);
  CHECK(*(*all)->row_type() == whole());

  set_record(spec.connector, whole());
  const auto some = make_source(registry, spec, part());
  REQUIRE_MESSAGE(some.has_value(), (some ? "" : some.error().message));
  CHECK(*(*some)->row_type() == part());
}

TEST_CASE("one that cannot give a part is refused") {
  const auto registry = make_registry();
  auto spec = spec_of("plain");
  set_record(spec.connector, whole());
  const auto made = make_source(registry, spec, part());
  REQUIRE(!made);
  CHECK(made.error().code == errc::type_mismatch);
  spec.connector.options["$record"] = "no base64!";
  CHECK(make_source(registry, spec, part()).error().code == errc::invalid_graph);
}
} // TEST_SUITE("graph/spec/make_source")

} // namespace headrace::graph
