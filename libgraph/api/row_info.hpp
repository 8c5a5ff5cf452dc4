#pragma once

#include "libgraph/api/type_info.hpp"
#include "libgraph/data/batch_builder.hpp"
#include "libgraph/data/record_batch.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace headrace::api {

/// How values of a type are the rows of a stream: a struct, pair or tuple has a column a field,
/// another value one column "f0".
template <class T>
struct row_info {
  static constexpr std::size_t columns = 1;

  static graph::logical_type type() {
    return graph::logical_type::row({{"f0", info_of<T>::type(), {}}}).not_null();
  }
  static void append(graph::batch_builder& out, const T& value) {
    info_of<T>::append(out.column(0), value);
  }
  /// Bound to the columns of a batch; gives the value of a column row.
  struct reader {
    typename info_of<T>::reader inner;
    explicit reader(const graph::record_batch& in, std::size_t first = 0) : inner(in.at(first)) {}
    reader(const graph::record_batch& in, std::span<const std::int32_t> at)
        : inner(in.at(static_cast<std::size_t>(at[0]))) {}
    T operator()(std::size_t row) const { return inner(row); }
  };
};

template <has_fields T>
struct row_info<T> {
  using fields = fields_of<T>;
  using infos = field_infos<typename fields::types>;
  static constexpr std::size_t columns = fields::size;

  static graph::logical_type type() { return infos::row_type(fields::name); }
  static void append(graph::batch_builder& out, const T& value) {
    fields::for_each(value, [&]<class Field>(auto index, const Field& field) {
      type_info<Field>::append(out.column(index()), field);
    });
  }
  struct reader {
    typename infos::readers readers;
    /// The columns from `first` on.
    explicit reader(const graph::record_batch& in, std::size_t first = 0)
        : readers(infos::bind(
              [&](std::size_t i) -> const graph::column& { return in.at(first + i); })) {}
    /// The columns at these indices.
    reader(const graph::record_batch& in, std::span<const std::int32_t> at)
        : readers(infos::bind([&](std::size_t i) -> const graph::column& {
            return in.at(static_cast<std::size_t>(at[i]));
          })) {}
    T operator()(std::size_t row) const {
      T out{};
      fields::for_each(out, [&](auto index, auto& field) {
        field = std::get<decltype(index)::value>(readers)(row);
      });
      return out;
    }
  };
};

template <class T>
using row_reader = typename row_info<T>::reader;

} // namespace headrace::api
