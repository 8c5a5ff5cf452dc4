#pragma once

#include "libgraph/data/record_batch.hpp"

#include <map>
#include <string>
#include <vector>

namespace headrace::testing {

/// The rows of batches as the print sink writes them, "+I[1, 2]" one a row.
std::vector<std::string> changes_of(const std::vector<graph::record_batch>& batches);

/// The table that a changelog leads to. Fails the current test case for a row that is taken back
/// and is not there.
class materialized_rows {
public:
  /// Applies changes as `changes_of` gives them.
  void apply(const std::vector<std::string>& changes);
  /// How often each row is there: "[1, 2]".
  const std::map<std::string, int>& rows() const { return rows_; }
  std::map<std::string, int>& rows() { return rows_; }

private:
  std::map<std::string, int> rows_;
};

} // namespace headrace::testing
