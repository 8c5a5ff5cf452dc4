#include "libgraph/expression/kernel/cast.hpp"
#include "libgraph/expression/kernel/column_access.hpp"
#include "libgraph/expression/kernel/nested_access.hpp"

#include <utility>
#include <vector>

namespace headrace::graph {
namespace {

/// The rows of the children that lie in lists of the rows that are computed.
std::vector<std::uint32_t> elements_of(const column& lists, const row_set& rows) {
  std::vector<std::uint32_t> out;
  const auto* offsets = lists.values<std::int32_t>();
  for_each_row(rows, [&](std::size_t row) {
    if (lists.is_null(row))
      return;
    for (auto i = offsets[row]; i < offsets[row + 1]; ++i)
      out.push_back(static_cast<std::uint32_t>(i));
  });
  return out;
}

/// Keys that were different may be equal once they are cast. Of equal keys of a map the last value
/// stays; those of a multiset count together.
column_ptr merge_equal_keys(const column_ptr& cast, const row_set& rows) {
  const auto& keys = cast->child(0);
  const auto* offsets = cast->values<std::int32_t>();
  const auto comes_in = [&](std::size_t key, std::size_t begin, std::size_t end) {
    for (auto i = begin; i < end; ++i)
      if (are_equal_keys(keys, key, keys, i))
        return true;
    return false;
  };
  const auto range_of = [&](std::size_t row) {
    return std::pair(static_cast<std::size_t>(offsets[row]),
                     static_cast<std::size_t>(offsets[row + 1]));
  };
  bool has_equal = false;
  for_each_row(rows, [&](std::size_t row) {
    const auto [begin, end] = range_of(row);
    for (auto i = begin; i < end && !has_equal && !cast->is_null(row); ++i)
      has_equal = comes_in(i, i + 1, end);
  });
  if (!has_equal)
    return cast;
  column_builder out(cast->type());
  const bool counts = cast->type().root() == type_root::multiset;
  std::size_t next = 0;
  for_each_row(rows, [&](std::size_t row) {
    for (; next < row; ++next)
      out.append_null();
    ++next;
    if (cast->is_null(row))
      return out.append_null();
    const auto [begin, end] = range_of(row);
    out.begin_list();
    for (auto i = begin; i < end; ++i) {
      if (counts ? comes_in(i, begin, i) : comes_in(i, i + 1, end))
        continue;
      any_reader::append_to(keys, i, out.child(0));
      if (!counts) {
        any_reader::append_to(cast->child(1), i, out.child(1));
        continue;
      }
      std::int32_t count = 0;
      for (auto k = i; k < end; ++k)
        if (are_equal_keys(keys, i, keys, k))
          count += cast->child(1).values<std::int32_t>()[k];
      out.child(1).append(count);
    }
    out.end_list();
  });
  for (; next < cast->size(); ++next)
    out.append_null();
  return out.finish();
}

} // namespace

result<kernel> make_nested_cast(const kernel_request& request) {
  const auto& from = request.arguments[0];
  const auto& to = request.type;
  const bool is_row = from.root() == type_root::row;
  const bool casts_keys = (from.root() == type_root::map || from.root() == type_root::multiset) &&
                          !(from.storage_child(0).nullable() == to.storage_child(0).nullable());
  if (from.root() != to.root() || from.storage_child_count() != to.storage_child_count())
    return error(errc::type_mismatch,
                 "no cast from " + from.nullable().to_sql() + " to " + to.nullable().to_sql());
  std::vector<kernel> children;
  const auto* entry = find_kernel(request.function);
  for (std::size_t i = 0; i < from.storage_child_count(); ++i) {
    const logical_type types[] = {from.storage_child(i)};
    const column_ptr none[] = {nullptr};
    HEADRACE_TRY(auto made,
                 entry->make({request.function, types, none, to.storage_child(i), request.zone}));
    children.push_back(std::move(made));
  }
  return kernel([children = std::move(children), is_row,
                 casts_keys](kernel_frame& frame) -> column_ptr {
    const auto& values = *frame.arguments[0].values;
    const bool is_constant = frame.arguments[0].is_constant;
    const row_set given = is_constant ? row_set{nullptr, 1, 1} : frame.rows;
    auto parts = values.content();
    const auto elements = is_row ? std::vector<std::uint32_t>() : elements_of(values, given);
    for (std::size_t i = 0; i < children.size(); ++i) {
      const operand child[] = {{parts.children[i], false}};
      const row_set rows =
          is_row ? given : row_set{elements.data(), elements.size(), parts.children[i]->size()};
      kernel_frame inner{frame.function, frame.type.storage_child(i), child, rows, frame.buffers,
                         frame.now_ms,   frame.watermark_ms,          {}};
      auto made = children[i](inner);
      if (inner.has_failed()) {
        frame.failure = std::move(inner.failure);
        return nullptr;
      }
      parts.children[i] = std::move(made);
    }
    auto out = column::make(frame.type, std::move(parts));
    if (casts_keys)
      out = merge_equal_keys(out, given);
    return is_constant ? expand_constant(out, frame.rows.total) : out;
  });
}

} // namespace headrace::graph
