#include "libgraph/expression/kernel/cast.hpp"
#include "libgraph/expression/kernel/column_access.hpp"

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

} // namespace

result<kernel> make_nested_cast(const kernel_request& request) {
  const auto& from = request.arguments[0];
  const auto& to = request.type;
  const bool is_row = from.root() == type_root::row;
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
  return kernel([children = std::move(children), is_row](kernel_frame& frame) -> column_ptr {
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
    return is_constant ? expand_constant(out, frame.rows.total) : out;
  });
}

} // namespace headrace::graph
