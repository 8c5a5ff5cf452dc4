#include "test/support/changelog.hpp"

#include "libgraph/data/row_format.hpp"

#include <doctest/doctest.h>

namespace headrace::testing {

std::vector<std::string> changes_of(const std::vector<graph::record_batch>& batches) {
  std::vector<std::string> out;
  for (const auto& batch : batches)
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto row = batch.row_at(i);
      std::string text;
      graph::format_kind(batch.kinds() == nullptr ? graph::row_kind::insert : batch.kinds()[row],
                         text);
      text += '[';
      for (std::size_t k = 0; k < batch.column_count(); ++k) {
        text += k > 0 ? ", " : "";
        graph::format_value(batch.at(k), row, text);
      }
      out.push_back(text + "]");
    }
  return out;
}

void materialized_rows::apply(const std::vector<std::string>& changes) {
  for (const auto& each : changes) {
    const auto row = each.substr(2);
    if (each.starts_with('+')) {
      ++rows_[row];
      continue;
    }
    CAPTURE(each);
    const auto found = rows_.find(row);
    REQUIRE(found != rows_.end());
    if (--found->second == 0)
      rows_.erase(found);
  }
}

} // namespace headrace::testing
