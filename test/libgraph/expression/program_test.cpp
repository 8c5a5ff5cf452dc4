#include "libgraph/expression/program.hpp"

#include "test/support/random_batch.hpp"
#include "test/support/seed.hpp"
#include "libgraph/data/batch_builder.hpp"
#include "libgraph/expression/expression_codec.hpp"
#include "libactors/base/data_errc.hpp"
#include "libactors/message/message.hpp"

#include <doctest/doctest.h>

#include <optional>

using namespace headrace;
using namespace headrace::graph;
using namespace headrace::testing;

namespace {

using maybe_number = std::optional<std::int64_t>;

logical_type big() { return logical_type::bigint(); }
logical_type flag() { return logical_type::boolean(); }

expression number(maybe_number value) {
  return make_constant(value ? fixed_value<std::int64_t>(big(), *value) : null_value(big()));
}

row_type_ptr three_numbers() {
  static const auto type = std::make_shared<const logical_type>(
      logical_type::row({{"a", big(), {}}, {"b", big(), {}}, {"c", big(), {}}}));
  return type;
}

row_type_ptr one(const logical_type& type) {
  return std::make_shared<const logical_type>(logical_type::row({{"value", type, {}}}));
}

using number_rows = std::vector<std::vector<maybe_number>>;

record_batch batch_of(const number_rows& rows) {
  batch_builder out(three_numbers());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (row[i])
        out.column(i).append(*row[i]);
      else
        out.column(i).append_null();
    }
    out.end_row();
  }
  return out.finish();
}

/// What a row-at-a-time evaluator gives: a number (a truth is 0 or 1) or NULL; `failed` once a
/// division by zero was asked for.
class slow_evaluator {
public:
  slow_evaluator(const expression& of, const std::vector<maybe_number>& row) : of_(of), row_(row) {}
  maybe_number root() { return at(static_cast<std::uint32_t>(of_.nodes.size() - 1)); }
  bool failed = false;

private:
  maybe_number at(std::uint32_t place) {
    const auto& node = of_.nodes[place];
    if (const auto* column = std::get_if<input_column>(&node.form))
      return row_[column->index];
    if (const auto* constant = std::get_if<constant_value>(&node.form)) {
      const auto& value = *constant->value;
      return value.is_null(0) ? maybe_number() : maybe_number(value.values<std::int64_t>()[0]);
    }
    const auto& call = std::get<function_call>(node.form);
    const auto& f = call.function;
    const auto& arguments = call.arguments;
    if (f == "AND" || f == "OR") {
      const std::int64_t dominant = f == "AND" ? 0 : 1;
      bool is_unknown = false;
      for (const auto each : arguments) {
        const auto value = at(each);
        if (failed)
          return {};
        if (value && *value == dominant)
          return value;
        is_unknown |= !value;
      }
      return is_unknown ? maybe_number() : maybe_number(1 - dominant);
    }
    if (f == "CASE") {
      for (std::size_t i = 0; i + 1 < arguments.size(); i += 2) {
        const auto condition = at(arguments[i]);
        if (failed)
          return {};
        if (condition == maybe_number(1))
          return at(arguments[i + 1]);
      }
      return at(arguments.back());
    }
    if (f == "COALESCE") {
      maybe_number out;
      for (std::size_t i = 0; i < arguments.size() && !out && !failed; ++i)
        out = at(arguments[i]);
      return out;
    }
    std::vector<maybe_number> values;
    for (const auto each : arguments)
      values.push_back(at(each));
    if (f == "IS NULL")
      return values[0] ? 0 : 1;
    for (const auto& each : values)
      if (!each)
        return {};
    const auto a = static_cast<std::uint64_t>(*values[0]);
    const auto b = values.size() > 1 ? static_cast<std::uint64_t>(*values[1]) : 0;
    if (f == "+")
      return static_cast<std::int64_t>(a + b);
    if (f == "-")
      return static_cast<std::int64_t>(a - b);
    if (f == "*")
      return static_cast<std::int64_t>(a * b);
    if (f == "/") {
      if (b == 0) {
        failed = true;
        return {};
      }
      return *values[1] == -1 ? static_cast<std::int64_t>(0 - a) : *values[0] / *values[1];
    }
    if (f == "NOT")
      return 1 - *values[0];
    if (f == "<")
      return *values[0] < *values[1] ? 1 : 0;
    REQUIRE(f == "=");
    return *values[0] == *values[1] ? 1 : 0;
  }

  const expression& of_;
  const std::vector<maybe_number>& row_;
};

/// Draws expressions; small ones come again, so that values are shared between branches.
class expression_dice {
public:
  explicit expression_dice(dice& random) : random_(random) {}

  expression draw(bool is_flag, int depth) {
    auto& earlier = is_flag ? flags_ : numbers_;
    if (!earlier.empty() && random_.one_in(4))
      return earlier[random_.below(earlier.size())];
    auto out = is_flag ? draw_flag(depth) : draw_number(depth);
    if (earlier.size() < 8)
      earlier.push_back(out);
    return out;
  }

private:
  expression draw_flag(int depth) {
    if (depth <= 0 || random_.one_in(5))
      return make_call(random_.one_in(2) ? "<" : "=", flag(), {draw(false, 0), draw(false, 0)});
    switch (random_.below(5)) {
    case 0:
      return make_call("NOT", flag(), {draw(true, depth - 1)});
    case 1:
      return make_call("IS NULL", flag(), {draw(false, depth - 1)});
    case 2:
      return make_call("<", flag(), {draw(false, depth - 1), draw(false, depth - 1)});
    default: {
      std::vector<expression> arguments;
      for (auto count = 2 + random_.below(2); count > 0; --count)
        arguments.push_back(draw(true, depth - 1));
      return make_call(random_.one_in(2) ? "AND" : "OR", flag(), std::move(arguments));
    }
    }
  }
  expression draw_number(int depth) {
    if (depth <= 0 || random_.one_in(6)) {
      if (random_.one_in(3))
        return number(random_.one_in(5)
                          ? maybe_number()
                          : maybe_number(static_cast<std::int64_t>(random_.below(5)) - 2));
      return make_column(static_cast<std::uint32_t>(random_.below(3)), big());
    }
    switch (random_.below(5)) {
    case 0: {
      std::vector<expression> arguments;
      for (auto count = 1 + random_.below(2); count > 0; --count) {
        arguments.push_back(draw(true, depth - 1));
        arguments.push_back(draw(false, depth - 1));
      }
      arguments.push_back(draw(false, depth - 1));
      return make_call("CASE", big(), std::move(arguments));
    }
    case 1:
      return make_call("COALESCE", big(), {draw(false, depth - 1), draw(false, depth - 1)});
    case 2: { // guarded, so that many runs go through
      auto divisor = draw(false, depth - 1);
      return make_call("CASE", big(),
                       {make_call("=", flag(), {divisor, number(0)}), number(-1),
                        make_call("/", big(), {draw(false, depth - 1), divisor})});
    }
    default: {
      static constexpr const char* signs[] = {"+", "-", "*", "/"};
      return make_call(signs[random_.below(random_.one_in(8) ? 4 : 3)], big(),
                       {draw(false, depth - 1), draw(false, depth - 1)});
    }
    }
  }

  dice& random_;
  std::vector<expression> numbers_;
  std::vector<expression> flags_;
};

maybe_number number_at(const column& values, std::size_t row) {
  if (values.is_null(row))
    return {};
  return values.type().root() == type_root::boolean
             ? static_cast<std::int64_t>(values.values<std::uint8_t>()[row])
             : values.values<std::int64_t>()[row];
}

} // namespace

TEST_SUITE("graph/expression/program") {

TEST_CASE("random expressions give what a row-at-a-time evaluator gives") {
  dice random(seed());
  int sound = 0;
  int refused = 0;
  for (int run = 0; run < runs(3000); ++run) {
    number_rows rows;
    for (auto count = 1 + random.below(20); count > 0; --count) {
      rows.emplace_back();
      for (int i = 0; i < 3; ++i)
        rows.back().push_back(random.one_in(4)
                                  ? maybe_number()
                                  : maybe_number(static_cast<std::int64_t>(random.below(7)) - 3));
    }
    auto batch = batch_of(rows);
    if (random.one_in(2)) {
      std::vector<std::uint32_t> picked;
      for (std::uint32_t i = 0; i < rows.size(); ++i)
        if (random.one_in(2))
          picked.push_back(i);
      if (!picked.empty())
        batch = batch.with_selection(selection_of(picked), picked.size());
    }
    expression_dice drawn(random);
    const expression outputs[] = {drawn.draw(false, 4), drawn.draw(true, 4)};
    CAPTURE(to_string(outputs[0]));
    CAPTURE(to_string(outputs[1]));
    bool must_fail = false;
    for (std::size_t i = 0; i < batch.size(); ++i)
      for (const auto& each : outputs) {
        slow_evaluator slow(each, rows[batch.row_at(i)]);
        static_cast<void>(slow.root());
        must_fail |= slow.failed;
      }

    auto program = expression_program::compile(*three_numbers(), {}, outputs, {});
    REQUIRE(program);
    const auto type = std::make_shared<const logical_type>(
        logical_type::row({{"n", big(), {}}, {"f", flag(), {}}}));
    const auto out = program->run(batch, type, {});

    REQUIRE(out.has_value() == !must_fail);
    (must_fail ? refused : sound) += 1;
    if (must_fail) {
      CHECK(out.error() == error(data_errc::division_by_zero, "/ failed: division by zero"));
      continue;
    }
    REQUIRE(out->size() == batch.size());
    for (std::size_t i = 0; i < out->size(); ++i)
      for (std::size_t column = 0; column < 2; ++column) {
        slow_evaluator slow(outputs[column], rows[batch.row_at(i)]);
        CHECK(number_at(out->at(column), out->row_at(i)) == slow.root());
      }
  }
  CHECK(sound > runs(3000) / 2);
  CHECK(refused > 0);
}

TEST_CASE("a condition keeps the rows for which it is TRUE, and their timestamps") {
  const auto a = make_column(0, big());
  const auto b = make_column(1, big());
  const auto condition =
      make_call("AND", flag(),
                {make_call("<", flag(), {a, number(3)}),
                 make_call("=", flag(), {make_call("/", big(), {number(6), a}), b})});
  const expression outputs[] = {make_call("+", big(), {a, b}), number(9)};
  auto program = expression_program::compile(*three_numbers(), condition, outputs, {});
  REQUIRE(program);
  auto batch = batch_of({{1, 6, {}}, {2, 5, {}}, {{}, 6, {}}, {9, 9, {}}, {2, 3, {}}});
  auto times = buffer::allocate(5 * sizeof(std::int64_t));
  for (int i = 0; i < 5; ++i)
    times->mutable_as<std::int64_t>()[i] = i * 10;
  batch = batch.with_timestamps(times);
  const auto type = std::make_shared<const logical_type>(
      logical_type::row({{"sum", big(), {}}, {"nine", big(), {}}}));

  const auto out = program->run(batch, type, {});

  REQUIRE(out);
  REQUIRE(out->size() == 2);
  CHECK(number_at(out->at(0), out->row_at(0)) == 7);
  CHECK(number_at(out->at(0), out->row_at(1)) == 5);
  CHECK(number_at(out->at(1), out->row_at(1)) == 9);
  CHECK(out->timestamps()[out->row_at(1)] == 40);
  check_valid(*out);
}

TEST_CASE("a condition under which nothing stays gives no rows, and the next batch still runs") {
  const auto a = make_column(0, big());
  auto program = expression_program::compile(*three_numbers(),
                                             make_call("=", flag(), {a, number(1)}), {&a, 1}, {});
  REQUIRE(program);

  const auto none = program->run(batch_of({{2, 2, 2}, {{}, {}, {}}}), one(big()), {});
  const auto some = program->run(batch_of({{1, 2, 2}}), one(big()), {});

  REQUIRE(none);
  CHECK(none->is_empty());
  REQUIRE(some);
  CHECK(some->size() == 1);
}

TEST_CASE("a failure leaves the program usable") {
  const auto a = make_column(0, big());
  const auto inverse = make_call("/", big(), {number(6), a});
  auto program = expression_program::compile(*three_numbers(), {}, {&inverse, 1}, {});
  REQUIRE(program);

  CHECK_FALSE(program->run(batch_of({{0, 0, 0}}), one(big()), {}));
  const auto out = program->run(batch_of({{2, 0, 0}}), one(big()), {});

  REQUIRE(out);
  CHECK(number_at(out->at(0), 0) == 3);
}

TEST_CASE("what cannot be run is refused with the reason") {
  const auto refused = [](const expression& output, const expression& condition = {}) {
    auto made = expression_program::compile(*three_numbers(), condition, {&output, 1}, {});
    REQUIRE_FALSE(made);
    return made.error();
  };
  CHECK(refused(make_column(3, big())).code == errc::invalid_graph);
  CHECK(refused(make_column(0, logical_type::string())).code == errc::type_mismatch);
  CHECK(refused(make_call("NO SUCH", big(), {number(1)})) ==
        error(errc::invalid_graph, "function cannot be run: NO SUCH"));
  CHECK(refused(make_call("NOT", flag(), {number(1)})) ==
        error(errc::type_mismatch, "no function for these types: NOT(BIGINT)"));
  CHECK(refused(make_call("CASE", big(), {number(1), number(1)})).code == errc::invalid_graph);
  CHECK(refused(number(1), number(1)).code == errc::type_mismatch);
  auto self = make_call("NOT", flag(), {number(1)});
  std::get<function_call>(self.nodes[1].form).arguments[0] = 1;
  CHECK(refused(self).message == "malformed expression: a node stands before its argument");
  auto made = expression_program::compile(*three_numbers(), {}, {}, {"Mars/Olympus"});
  REQUIRE_FALSE(made);
  CHECK(made.error().code == errc::bad_option_value);
}

TEST_CASE("constants are folded, and what fails is told") {
  const auto two = evaluate_constant(make_call("+", big(), {number(1), number(1)}), {});
  const auto none = evaluate_constant(make_call("/", big(), {number(1), number(0)}), {});

  REQUIRE(two);
  CHECK(number_at(**two, 0) == 2);
  REQUIRE_FALSE(none);
  CHECK(none.error().message == "/ failed: division by zero");
  CHECK(is_constant(make_call("+", big(), {number(1), number(1)})));
  CHECK_FALSE(is_constant(make_call("+", big(), {number(1), make_column(0, big())})));
}

TEST_CASE("what is drawn is drawn for each row, and by a seed as Java does") {
  const auto integer = logical_type::integer();
  const auto seven = make_constant(fixed_value(integer, std::int32_t{7}));
  const auto bound = make_constant(fixed_value(integer, std::int32_t{1000}));
  const expression outputs[] = {make_call("RAND", logical_type::float64(), {}),
                                make_call("RAND", logical_type::float64(), {}),
                                make_call("RAND_INTEGER", integer, {seven, bound}),
                                make_call("UUID", logical_type::string(), {})};
  auto program = expression_program::compile(*three_numbers(), {}, outputs, {});
  REQUIRE(program);
  const auto type =
      std::make_shared<const logical_type>(logical_type::row({{"r", logical_type::float64(), {}},
                                                              {"s", logical_type::float64(), {}},
                                                              {"i", integer, {}},
                                                              {"u", logical_type::string(), {}}}));

  const auto out = program->run(batch_of({{1, 1, 1}, {2, 2, 2}, {3, 3, 3}}), type, {});

  REQUIRE(out);
  const auto* drawn = out->at(0).values<double>();
  CHECK(drawn[0] != drawn[1]);
  CHECK(drawn[0] != out->at(1).values<double>()[0]);
  CHECK((drawn[0] >= 0 && drawn[0] < 1));
  // new java.util.Random(7): nextInt(1000), three times, by the algorithm that Java documents.
  const auto* integers = out->at(2).values<std::int32_t>();
  CHECK(integers[0] == 236);
  CHECK(integers[1] == 164);
  CHECK(integers[2] == 485);
  const auto again = expression_program::compile(*three_numbers(), {}, outputs, {"UTC", {}, 9})
                         .value()
                         .run(batch_of({{1, 1, 1}, {2, 2, 2}, {3, 3, 3}}), type, {});
  REQUIRE(again);
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(integers[i] == again->at(2).values<std::int32_t>()[i]);
  CHECK(drawn[0] != again->at(0).values<double>()[0]);
  CHECK(out->at(3).string_at(0).size() == 36);
  CHECK(out->at(3).string_at(0)[14] == '4');
  CHECK(out->at(3).string_at(0) != out->at(3).string_at(1));
}

TEST_CASE("an expression comes back as it went, and another has other bytes") {
  dice random(seed());
  for (int run = 0; run < runs(200); ++run) {
    expression_dice drawn(random);
    const auto from = drawn.draw(random.one_in(2), 4);
    message_builder<schema::Expression> out;
    encode(from, *out);

    const auto back = decode_expression(*out.finish().view());

    REQUIRE(back);
    CHECK(*back == from);
    byte_string bytes;
    byte_writer writer(bytes);
    put_expression(writer, from);
    auto other = from;
    other.nodes.push_back({input_column{1}, big()});
    byte_string other_bytes;
    byte_writer other_writer(other_bytes);
    put_expression(other_writer, other);
    CHECK(bytes != other_bytes);
  }
}

TEST_CASE("broken constants and types of a message are refused") {
  const auto decoded = [](auto change) {
    message_builder<schema::Expression> out;
    encode(number(7), *out);
    change((*out).getNodes()[0]);
    return decode_expression(*out.finish().view());
  };
  const std::uint8_t junk[] = {0xff, 0xff, 0xff};
  CHECK(decoded([](auto) {}).has_value());
  CHECK(decoded([&](auto node) {
          node.setConstant({junk, 3});
        })
            .error()
            .code == errc::malformed_message);
  CHECK(decoded([&](auto node) {
          node.setType({junk, 3});
        })
            .error()
            .code == errc::malformed_message);
}
} // TEST_SUITE("graph/expression/program")
