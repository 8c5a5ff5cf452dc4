#pragma once

#include "libgraph/data/record_batch.hpp"
#include "libgraph/sql/translate/job_translator.hpp"
#include "libactors/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace headrace::client {

using text_row = std::vector<std::optional<std::string>>;
/// Under their names, columns below one another; NULL is "<NULL>".
std::string rows_as_table(const std::vector<std::string>& names, const std::vector<text_row>& rows);
/// A line of names, and one a row. NULL is nothing between two commas, an empty text is "".
std::string rows_as_csv(const std::vector<std::string>& names, const std::vector<text_row>& rows);

/// The table that a changelog comes to: takes the rows of a query as they are collected, and shows
/// what is left at the end, ordered and cut as the query says. Of one thread.
class result_table {
public:
  /// @param time_zone  of the session: what TIMESTAMP_LTZ is shown in
  result_table(sql::shown_rows shown, std::string time_zone)
      : shown_(std::move(shown)), time_zone_(std::move(time_zone)) {}

  /// A row that is taken back and is not there takes back the one of its key, where there is one
  /// (see `shown_rows`), and else nothing: such are counted.
  void take(const graph::record_batch& rows);
  /// Rows that were taken back and were not there.
  std::size_t unmatched() const { return unmatched_; }
  /// Rows that are there now, before LIMIT.
  std::size_t size() const { return live_.size(); }
  const std::vector<std::string>& names() const { return shown_.names; }
  /// The rows, ordered and cut, with the names that are shown; without columns when there are none.
  graph::record_batch rows(std::size_t rows_max = std::numeric_limits<std::size_t>::max()) const;
  /// Rows that are shown, behind OFFSET and LIMIT.
  std::size_t shown_size() const;
  /// The rows as texts, as CAST(… AS STRING) makes them; nothing is NULL. @errors those of the cast
  /// @param rows_max  the first of them
  result<std::vector<text_row>>
  texts(std::size_t rows_max = std::numeric_limits<std::size_t>::max()) const;

private:
  /// A row of one of `batches_`.
  struct place {
    std::uint32_t batch = 0;
    std::uint32_t row = 0;
  };
  /// Takes a row out of the index. @returns where it stands in `live_`; nothing: it was not there
  std::optional<std::size_t> take_back(const graph::record_batch& rows, std::size_t index);
  void remove(const graph::record_batch& rows, std::size_t index);
  /// A row takes the place of the one before it, which it updates.
  void replace(const graph::record_batch& rows, std::size_t index);
  void add(const place& where);
  void begin_index();
  void compact();
  /// What the index knows a row by: its key, or all its values.
  std::string key_of(const place& where) const;
  std::string values_of(const place& where, const std::vector<std::size_t>& columns) const;
  bool are_equal(const place& one, const place& other) const;
  std::vector<place> ordered() const;

  sql::shown_rows shown_;
  std::string time_zone_;
  std::vector<graph::record_batch> batches_;
  std::size_t held_rows_ = 0; ///< in `batches_`, also those taken back
  std::vector<place> live_;
  /// Where rows stand in `live_`, by `key_of`; once a row was taken back.
  std::unordered_multimap<std::string, std::size_t> index_;
  bool is_indexed_ = false;
  std::size_t unmatched_ = 0;
};

} // namespace headrace::client
