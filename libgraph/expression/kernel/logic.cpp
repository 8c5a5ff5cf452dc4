#include "libgraph/expression/kernel/map.hpp"

#include <limits>

namespace headrace::graph {
namespace {

constexpr std::size_t any_number = std::numeric_limits<std::size_t>::max();

enum truth : std::uint8_t { is_false = 0, is_true = 1, is_unknown = 2 };

/// AND and OR where every argument has been computed. `dominant` decides alone.
column_ptr combine(kernel_frame& frame, truth dominant) {
  const auto total = frame.rows.total;
  auto out = frame.buffers.allocate(total);
  auto* to = out->mutable_as<std::uint8_t>();
  const auto start = dominant == is_false ? is_true : is_false;
  for_each_row(frame.rows, [&](std::size_t row) { to[row] = start; });
  bool has_nulls = false;
  for (const auto& each : frame.arguments) {
    const reader<std::uint8_t> from(each);
    if (!each.values->has_nulls() && !has_nulls) {
      if (dominant == is_false)
        for_each_row(frame.rows, [&](std::size_t row) {
          to[row] = static_cast<std::uint8_t>(to[row] & from[row]);
        });
      else
        for_each_row(frame.rows, [&](std::size_t row) {
          to[row] = static_cast<std::uint8_t>(to[row] | from[row]);
        });
      continue;
    }
    has_nulls = true;
    for_each_row(frame.rows, [&](std::size_t row) {
      const auto given = from.is_null(row) ? is_unknown : static_cast<truth>(from[row]);
      if (to[row] == dominant || given == dominant)
        to[row] = dominant;
      else if (given == is_unknown)
        to[row] = is_unknown;
    });
  }
  validity_writer validity(frame);
  if (has_nulls)
    for_each_row(frame.rows, [&](std::size_t row) {
      if (to[row] == is_unknown) {
        to[row] = is_false;
        validity.set_null(row);
      }
    });
  return make_fixed(frame.type, total, std::move(out), validity.finish());
}

column_ptr negate(kernel_frame& frame) {
  return map_one<std::uint8_t, std::uint8_t>(
      frame, [](std::uint8_t value) { return static_cast<std::uint8_t>(value ^ 1U); });
}

/// Whether the truth is one of those in the set of bits.
template <unsigned Wanted>
column_ptr test(kernel_frame& frame) {
  auto out = frame.buffers.allocate(frame.rows.total);
  auto* to = out->mutable_as<std::uint8_t>();
  const reader<std::uint8_t> from(frame.arguments[0]);
  const bool is_untyped = frame.arguments[0].values->type().physical() == physical_type::none;
  for_each_row(frame.rows, [&](std::size_t row) {
    const unsigned given =
        is_untyped || from.is_null(row) ? unsigned{is_unknown} : unsigned{from[row]};
    to[row] = static_cast<std::uint8_t>(Wanted >> given & 1U);
  });
  return make_fixed(frame.type, frame.rows.total, std::move(out), nullptr);
}

result<kernel> booleans_only(const kernel_request& request, std::size_t most, kernel made) {
  if (request.arguments.empty() || request.arguments.size() > most)
    return unfit(request);
  for (const auto& each : request.arguments)
    if (each.root() != type_root::boolean && each.root() != type_root::null)
      return unfit(request);
  return made;
}

result<kernel> make_and(const kernel_request& request) {
  return booleans_only(request, any_number,
                       [](kernel_frame& frame) { return combine(frame, is_false); });
}
result<kernel> make_or(const kernel_request& request) {
  return booleans_only(request, any_number,
                       [](kernel_frame& frame) { return combine(frame, is_true); });
}
result<kernel> make_not(const kernel_request& request) { return booleans_only(request, 1, negate); }
template <unsigned Wanted>
result<kernel> make_test(const kernel_request& request) {
  return booleans_only(request, 1, test<Wanted>);
}

constexpr unsigned bit_false = 1U << is_false;
constexpr unsigned bit_true = 1U << is_true;
constexpr unsigned bit_unknown = 1U << is_unknown;

constexpr kernel_entry entries[] = {
    {"AND", ".", make_and, false},
    {"OR", ".", make_or, false},
    {"NOT", ".", make_not},
    {"IS TRUE", ".", make_test<bit_true>, false},
    {"IS NOT TRUE", ".", make_test<bit_false | bit_unknown>, false},
    {"IS FALSE", ".", make_test<bit_false>, false},
    {"IS NOT FALSE", ".", make_test<bit_true | bit_unknown>, false},
    {"IS UNKNOWN", ".", make_test<bit_unknown>, false},
    {"IS NOT UNKNOWN", ".", make_test<bit_true | bit_false>, false},
};

} // namespace

std::span<const kernel_entry> logic_kernels() { return entries; }

} // namespace headrace::graph
