#pragma once

#include "libgraph/api/row_info.hpp"
#include "libgraph/function/function.hpp"
#include "libactors/base/assert.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace headrace::api {

/// Folds rows into an accumulator and makes a result of it. A copy runs in each subtask.
///
/// An accumulator that is trivially copyable, without pointers or views, and of at most 256 bytes
/// lives in the state as it is; another one must be streamable (see type_info) and is encoded.
template <class In, class Accumulator, class Out>
class aggregate_function {
public:
  using input_type = In;
  using accumulator_type = Accumulator;
  using output_type = Out;

  virtual ~aggregate_function() = default;
  virtual Accumulator create_accumulator() { return Accumulator{}; }
  virtual void add(const In& in, Accumulator& into) = 0;
  /// Only needed where accumulators meet (merging windows, two-phase aggregation).
  virtual void merge(Accumulator& into, const Accumulator& from) = 0;
  virtual Out result(const Accumulator& of) = 0;
};

/// Whether the object's bytes may lie in the state.
template <class Accumulator>
constexpr bool is_fixed_accumulator() {
  if constexpr (!std::is_trivially_copyable_v<Accumulator> || sizeof(Accumulator) > 256)
    return false;
  else if constexpr (streamable<Accumulator>)
    return type_info<Accumulator>::is_plain;
  else
    return std::is_class_v<Accumulator>; // not described: the user says that it is plain
}

/// Runs an aggregation over erased accumulators. `Logic` is copied into each subtask and has
/// input_type, accumulator_type, output_type and
///
///     begin(in) -> accumulator   of the first row
///     add(in, accumulator&)      of each further one
///     merge(accumulator&, const accumulator&)
///     result(const accumulator&) -> output
template <class Logic>
class aggregate_adaptor final : public graph::aggregate_function {
public:
  using input = typename Logic::input_type;
  using accumulator = typename Logic::accumulator_type;
  using output = typename Logic::output_type;
  static constexpr bool is_fixed = is_fixed_accumulator<accumulator>();
  static_assert(is_fixed || streamable<accumulator>,
                "describe the accumulator with HEADRACE_STRUCT: it is too large or not trivially "
                "copyable, so it must be encoded");

  explicit aggregate_adaptor(Logic logic) : logic_(std::move(logic)) {}

  graph::logical_type accumulator_type() const override {
    if constexpr (streamable<accumulator>)
      return type_info<accumulator>::type();
    else
      return graph::logical_type::binary(static_cast<int>(sizeof(accumulator))).not_null();
  }
  std::size_t fixed_bytes() const override {
    return is_fixed ? (sizeof(accumulator) + 7U) / 8U * 8U : 0U;
  }

  void add_fixed(const graph::record_batch& in, std::span<const std::uint32_t> rows,
                 std::span<std::byte* const> accumulators,
                 std::span<const std::uint8_t> fresh) override {
    if constexpr (is_fixed) {
      const row_reader<input> read(in);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (fresh[i] != 0) {
          store(accumulators[i], logic_.begin(read(rows[i])));
        } else {
          auto held = load(accumulators[i]);
          logic_.add(read(rows[i]), held);
          store(accumulators[i], held);
        }
      }
    }
  }
  void merge_fixed(std::byte* into, const std::byte* from) override {
    if constexpr (is_fixed) {
      auto held = load(into);
      logic_.merge(held, load(from));
      store(into, held);
    }
  }
  void result_fixed(const graph::record_batch&, std::span<const std::byte* const> accumulators,
                    graph::batch_builder& out) override {
    if constexpr (is_fixed) {
      for (const auto* each : accumulators) {
        row_info<output>::append(out, logic_.result(load(each)));
        out.end_row();
      }
    }
  }

  void add_variable(const graph::record_batch& in, std::uint32_t row, byte_string& bytes) override {
    if constexpr (!is_fixed) {
      const row_reader<input> read(in);
      scratch_.clear();
      if (bytes.empty()) {
        type_info<accumulator>::encode(scratch_, logic_.begin(read(row)));
      } else {
        auto held = decoded<accumulator>(bytes);
        logic_.add(read(row), held);
        type_info<accumulator>::encode(scratch_, held);
      }
      bytes.swap(scratch_); // encoded aside: views in `held` may lie in `bytes`
    }
  }
  void merge_variable(byte_string& into, byte_view from) override {
    if constexpr (!is_fixed) {
      if (into.empty()) {
        into = from;
        return;
      }
      scratch_.clear();
      auto held = decoded<accumulator>(into);
      logic_.merge(held, decoded<accumulator>(from));
      type_info<accumulator>::encode(scratch_, held);
      into.swap(scratch_);
    }
  }
  void result_variable(const graph::record_batch&, std::size_t, byte_view bytes,
                       graph::batch_builder& out) override {
    if constexpr (!is_fixed) {
      row_info<output>::append(out, logic_.result(decoded<accumulator>(bytes)));
      out.end_row();
    }
  }

private:
  static accumulator load(const std::byte* from) {
    accumulator out;
    std::memcpy(&out, from, sizeof(accumulator));
    return out;
  }
  static void store(std::byte* to, const accumulator& value) {
    std::memcpy(to, &value, sizeof(accumulator));
  }

  Logic logic_;
  byte_string scratch_;
};

/// A user's aggregate_function as logic of aggregate_adaptor; `F` is its final type.
template <class F>
class user_aggregate {
public:
  using input_type = typename F::input_type;
  using accumulator_type = typename F::accumulator_type;
  using output_type = typename F::output_type;

  explicit user_aggregate(F function) : function_(std::move(function)) {}
  accumulator_type begin(const input_type& in) {
    auto out = function_.F::create_accumulator();
    function_.F::add(in, out);
    return out;
  }
  void add(const input_type& in, accumulator_type& into) { function_.F::add(in, into); }
  void merge(accumulator_type& into, const accumulator_type& from) {
    function_.F::merge(into, from);
  }
  output_type result(const accumulator_type& of) { return function_.F::result(of); }

private:
  F function_;
};

/// `T(T, T)` as logic of aggregate_adaptor.
template <class T, class F>
class reduce_aggregate {
public:
  using input_type = T;
  using accumulator_type = T;
  using output_type = T;

  explicit reduce_aggregate(F function) : function_(std::move(function)) {}
  T begin(const T& in) const { return in; }
  void add(const T& in, T& into) { into = function_(into, in); }
  void merge(T& into, const T& from) { into = function_(into, from); }
  T result(const T& of) const { return of; }

private:
  F function_;
};

} // namespace headrace::api
