#include "libgraph/expression/program_step.hpp"
#include "libactors/base/ids.hpp"

#include <algorithm>

namespace headrace::graph {
namespace {

bool is_integer(const logical_type& type) {
  return type.root() >= type_root::tinyint && type.root() <= type_root::bigint;
}
bool is_approximate(const logical_type& type) {
  return type.root() == type_root::float_ || type.root() == type_root::double_;
}
bool is_text(const logical_type& type) {
  return type.root() == type_root::character || type.root() == type_root::varchar;
}
bool is_interval(const logical_type& type) {
  return type.root() == type_root::interval_year_month ||
         type.root() == type_root::interval_day_time;
}

/// An integer as the decimal that holds each of its values.
logical_type as_decimal(const logical_type& type) {
  switch (type.root()) {
  case type_root::tinyint:
    return logical_type::decimal(3, 0);
  case type_root::smallint:
    return logical_type::decimal(5, 0);
  case type_root::integer:
    return logical_type::decimal(10, 0);
  case type_root::bigint:
    return logical_type::decimal(19, 0);
  default:
    return type;
  }
}

/// Whether a kernel that may fail can do so for this call: casts between numbers do not.
bool can_fail(const kernel_entry& entry, const std::vector<logical_type>& types) {
  if (!entry.may_fail)
    return false;
  if (entry.function != "CAST" || types.empty())
    return true;
  return is_text(types[0]) || types[0].child_count() > 0;
}

byte_string key_of(const program_step& step) {
  byte_string bytes;
  byte_writer out(bytes);
  out.put(step.kind);
  step.type.encode(out);
  if (step.kind == step_kind::column) {
    out.put(step.column);
  } else if (step.kind == step_kind::constant) {
    out.put_bytes(encode_value(step.constant));
  } else {
    out.put_bytes(step.function);
    for (const auto each : step.arguments)
      out.put(each);
  }
  return bytes;
}

} // namespace

result<std::uint32_t> program_compiler::add(const expression& from) {
  HEADRACE_CHECK(check_expression(from, input_));
  places made;
  made.reserve(from.nodes.size());
  for (const auto& node : from.nodes) {
    if (const auto* column = std::get_if<input_column>(&node.form)) {
      program_step step;
      step.kind = step_kind::column;
      step.type = node.type;
      step.column = column->index;
      made.push_back(finish(std::move(step)));
    } else if (const auto* value = std::get_if<constant_value>(&node.form)) {
      made.push_back(constant(value->value));
    } else {
      const auto& wanted = std::get<function_call>(node.form);
      places arguments;
      for (const auto each : wanted.arguments)
        arguments.push_back(made[each]);
      HEADRACE_TRY(const auto at, call(wanted.function, node.type, std::move(arguments)));
      made.push_back(at);
    }
  }
  return made.back();
}

std::uint32_t program_compiler::finish(program_step step) {
  for (const auto each : step.arguments) {
    step.may_fail |= steps_[each].may_fail;
    step.is_volatile |= steps_[each].is_volatile;
  }
  const auto next = static_cast<place>(steps_.size());
  if (!step.is_volatile) {
    const auto [at, is_new] = known_.try_emplace(key_of(step), next);
    if (!is_new)
      return at->second;
  }
  const bool folds = step.kind >= step_kind::call && !step.is_volatile &&
                     std::all_of(step.arguments.begin(), step.arguments.end(),
                                 [&](place each) { return is_constant(each); });
  steps_.push_back(std::move(step));
  if (!folds)
    return next;
  // What fails stays a call: it may stand in a branch that no row takes.
  buffer_pool buffers;
  program_runner runner(steps_, buffers);
  runner.begin(nullptr, {});
  const auto* value = runner.compute(next, {nullptr, 1, 1});
  if (value == nullptr)
    return next;
  auto& folded = steps_[next];
  folded.constant = value->values;
  folded.kind = step_kind::constant;
  folded.compute = nullptr;
  folded.arguments.clear();
  folded.may_fail = false;
  return next;
}

std::uint32_t program_compiler::constant(column_ptr value) {
  program_step step;
  step.kind = step_kind::constant;
  step.type = value->type();
  step.constant = std::move(value);
  return finish(std::move(step));
}

result<std::uint32_t> program_compiler::cast(place value, const logical_type& type) {
  if (steps_[value].type.nullable() == type.nullable())
    return value;
  if (is_null(value))
    return constant(null_value(type));
  return strict_call("CAST", steps_[value].type.is_nullable() ? type.nullable() : type, {value});
}

result<std::uint32_t> program_compiler::call(const std::string& function, const logical_type& type,
                                             places arguments) {
  const auto count = arguments.size();
  const auto malformed = [&] {
    return error(errc::invalid_graph, "malformed expression: " + function + " with " +
                                          std::to_string(count) + " arguments");
  };
  if (function == "AND" || function == "OR") {
    if (count == 0)
      return malformed();
    const bool may_fail = std::any_of(arguments.begin() + 1, arguments.end(),
                                      [&](place each) { return steps_[each].may_fail; });
    if (may_fail)
      return lazy_call(function == "AND" ? step_kind::and_ : step_kind::or_, function, type,
                       std::move(arguments));
    return strict_call(function, type, std::move(arguments));
  }
  if (function == "CASE" || function == "IF") {
    if (count % 2 != 1 || (function == "IF" && count != 3))
      return malformed();
    return lazy_call(step_kind::choose, "CASE", type, std::move(arguments));
  }
  if (function == "COALESCE" || function == "IFNULL") {
    if (count == 0)
      return malformed();
    return lazy_call(step_kind::first_valid, "COALESCE", type, std::move(arguments));
  }
  if (function == "NULLIF") {
    if (count != 2)
      return malformed();
    return null_if(type, arguments);
  }
  if (function == "IN" || function == "NOT IN") {
    if (count < 2)
      return malformed();
    return in_list(function == "NOT IN", type, arguments);
  }
  if (function == "NOT LIKE" || function == "NOT SIMILAR TO") {
    HEADRACE_TRY(const auto inner, strict_call(function.substr(4), type, std::move(arguments)));
    return strict_call("NOT", type, {inner});
  }
  return strict_call(function, type, std::move(arguments));
}

result<std::uint32_t> program_compiler::null_if(const logical_type& type, const places& arguments) {
  auto left = arguments[0];
  auto right = arguments[1];
  const auto& one = steps_[left].type;
  const auto& other = steps_[right].type;
  if (one.root() != other.root() && one.root() != type_root::null &&
      other.root() != type_root::null) {
    const bool is_number =
        (is_integer(one) || is_approximate(one) || one.root() == type_root::decimal) &&
        (is_integer(other) || is_approximate(other) || other.root() == type_root::decimal);
    auto common = one;
    if (is_integer(one) && is_integer(other))
      common = logical_type::bigint();
    else if (is_number)
      common = logical_type::float64();
    // Decimals are compared as they are, with all their digits.
    const bool is_exact = is_number && !is_approximate(one) && !is_approximate(other) &&
                          !(is_integer(one) && is_integer(other));
    HEADRACE_TRY(left, cast(left, is_exact ? as_decimal(one) : common));
    HEADRACE_TRY(right, cast(right, is_exact ? as_decimal(other) : common));
  }
  HEADRACE_TRY(const auto is_same, strict_call("=", logical_type::boolean(), {left, right}));
  const auto null = constant(null_value(type));
  return lazy_call(step_kind::choose, "CASE", type, {is_same, null, arguments[0]});
}

result<std::uint32_t> program_compiler::in_list(bool is_negated, const logical_type& type,
                                                const places& arguments) {
  places constants{arguments[0]};
  places tests;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (is_constant(arguments[i])) {
      constants.push_back(arguments[i]);
      continue;
    }
    HEADRACE_TRY(const auto test, strict_call(is_negated ? "<>" : "=", logical_type::boolean(),
                                              {arguments[0], arguments[i]}));
    tests.push_back(test);
  }
  if (constants.size() > 1) {
    HEADRACE_TRY(const auto test,
                 strict_call(is_negated ? "NOT IN" : "IN", type, std::move(constants)));
    tests.push_back(test);
  }
  if (tests.size() == 1)
    return tests[0];
  return call(is_negated ? "AND" : "OR", type, std::move(tests));
}

result<std::uint32_t> program_compiler::lazy_call(step_kind kind, const std::string& function,
                                                  const logical_type& type, places arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const bool is_condition = kind == step_kind::and_ || kind == step_kind::or_ ||
                              (kind == step_kind::choose && i % 2 == 0 && i + 1 < arguments.size());
    const auto& wanted = is_condition ? logical_type::boolean() : type;
    HEADRACE_TRY(arguments[i], cast(arguments[i], wanted));
  }
  program_step step;
  step.kind = kind;
  step.type = type;
  step.function = function;
  step.arguments = std::move(arguments);
  return finish(std::move(step));
}

/// The type that a letter of an entry's parameters asks for.
logical_type program_compiler::wanted_type(char letter, const logical_type& type,
                                           const places& arguments, place argument) const {
  const auto& given = steps_[argument].type;
  switch (letter) {
  case 'r':
    return type;
  case 'd':
    return logical_type::float64();
  case 'i':
    return logical_type::integer();
  case 'l':
    return logical_type::bigint();
  case 's':
    return is_text(given) ? given : logical_type::string();
  case 'e': {
    const auto& first = steps_[arguments[0]].type;
    if (first.root() != type_root::array)
      return given;
    const auto& element = first.child(0);
    const bool fits = given.root() == element.root() || given.root() == type_root::null ||
                      (is_text(given) && is_text(element)) ||
                      (is_integer(given) && is_integer(element) && given.root() < element.root());
    return fits ? element : given;
  }
  case 'h':
    return is_text(given) ? given : logical_type::bigint();
  case 't':
  case 'f':
    if (is_text(given) || is_interval(given))
      return given;
    return logical_type::timestamp(letter == 't' ? 3 : 9);
  case 'n': // of the result where that is a number; an interval's factor is as wide as it
    if (type.root() == type_root::decimal)
      return as_decimal(given);
    if (is_integer(type) || is_approximate(type))
      return type;
    if (is_interval(type) && !is_interval(given))
      return type.physical() == physical_type::int32 ? logical_type::integer()
                                                     : logical_type::bigint();
    return given;
  case 'm': { // of remainders
    if (type.root() == type_root::decimal)
      return as_decimal(given);
    const bool is_whole = std::all_of(arguments.begin(), arguments.end(),
                                      [&](place each) { return is_integer(steps_[each].type); });
    return is_whole ? logical_type::bigint() : logical_type::float64();
  }
  default:
    return given;
  }
}

result<std::vector<std::uint32_t>>
program_compiler::adapt(const kernel_entry& entry, const logical_type& type, places arguments) {
  auto out = arguments;
  for (std::size_t i = 0; i < out.size() && !entry.parameters.empty(); ++i) {
    const auto letter = entry.parameters[std::min(i, entry.parameters.size() - 1)];
    HEADRACE_TRY(out[i], cast(out[i], wanted_type(letter, type, arguments, arguments[i])));
  }
  return out;
}

result<std::uint32_t> program_compiler::strict_call(const std::string& function,
                                                    const logical_type& type, places arguments) {
  const auto* entry = find_kernel(function);
  if (entry == nullptr)
    return error(errc::invalid_graph, "function cannot be run: " + function);
  if (entry->is_strict && !entry->is_volatile &&
      std::any_of(arguments.begin(), arguments.end(), [&](place each) { return is_null(each); }) &&
      std::none_of(arguments.begin(), arguments.end(),
                   [&](place each) { return steps_[each].may_fail; }))
    return constant(null_value(type));
  HEADRACE_TRY(arguments, adapt(*entry, type, std::move(arguments)));
  std::vector<logical_type> types;
  std::vector<column_ptr> constants;
  for (const auto each : arguments) {
    types.push_back(steps_[each].type);
    constants.push_back(steps_[each].constant);
  }
  program_step step;
  step.kind = step_kind::call;
  step.type = type;
  step.function = function;
  step.arguments = std::move(arguments);
  step.may_fail = can_fail(*entry, types);
  step.is_volatile = entry->is_volatile;
  HEADRACE_TRY(step.compute, entry->make({entry->function, types, constants, type, zone_,
                                          mix64(seed_ + steps_.size())}));
  return finish(std::move(step));
}

} // namespace headrace::graph
