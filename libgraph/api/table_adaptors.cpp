#include "libgraph/api/table_adaptors.hpp"

#include "libgraph/api/collector.hpp"
#include "libgraph/function/failure.hpp"

#include <algorithm>
#include <utility>

namespace headrace::api {
namespace {

using graph::row_kind;

/// Takes the next rows of a batch, as many as the output may have.
class picked_rows {
public:
  /// @returns the row to go on with
  std::size_t pick(const graph::record_batch& in, std::size_t from,
                   const graph::function_output& out) {
    const auto stop = std::min(in.size(), from + std::max<std::size_t>(1, out.rows_max()));
    rows_.clear();
    for (auto i = from; i < stop; ++i)
      rows_.push_back(in.row_at(i));
    return stop;
  }
  const std::vector<std::uint32_t>& rows() const { return rows_; }

  /// Ends the rows, whose columns were appended. @param kinds  by column row; null: inserts
  void end(const graph::record_batch& in, const row_kind* kinds, graph::batch_builder& out) const {
    const auto* times = in.timestamps();
    if (kinds == nullptr && times == nullptr) {
      out.end_rows(rows_.size());
      return;
    }
    for (const auto row : rows_) {
      if (kinds == nullptr)
        out.end_row(times[row]);
      else if (times == nullptr)
        out.end_row(kinds[row]);
      else
        out.end_row(kinds[row], times[row]);
    }
  }

private:
  std::vector<std::uint32_t> rows_;
};

class null_check final : public graph::row_function {
public:
  null_check(std::vector<std::string> names, std::vector<std::uint8_t> are_required)
      : names_(std::move(names)), are_required_(std::move(are_required)) {}

  std::size_t process(const graph::record_batch& in, std::size_t from,
                      graph::function_output& out) override {
    const auto next = picked_.pick(in, from, out);
    auto& main = out.main();
    for (std::size_t i = 0; i < in.column_count(); ++i) {
      const auto& column = in.at(i);
      if (are_required_[i] != 0 && column.has_nulls())
        for (const auto row : picked_.rows())
          if (column.is_null(row))
            throw graph::failure({errc::malformed_record,
                                  "column " + names_[i] +
                                      " of the table is NULL in a row, and the field takes none: "
                                      "make it a std::optional, or COALESCE the column"});
      main.column(i).append_from(column, picked_.rows());
    }
    picked_.end(in, in.kinds(), main);
    return next;
  }

private:
  std::vector<std::string> names_;
  std::vector<std::uint8_t> are_required_;
  picked_rows picked_;
};

class event_time_column final : public graph::row_function {
public:
  std::size_t process(const graph::record_batch& in, std::size_t from,
                      graph::function_output& out) override {
    const auto next = picked_.pick(in, from, out);
    auto& main = out.main();
    for (std::size_t i = 0; i < in.column_count(); ++i)
      main.column(i).append_from(in.at(i), picked_.rows());
    auto& time = main.column(in.column_count());
    const auto* times = in.timestamps();
    for (const auto row : picked_.rows()) {
      if (times == nullptr || times[row] == no_timestamp)
        throw graph::failure({errc::malformed_record,
                              "a row of the stream has no event time for the table's column: call "
                              "assign_timestamps_and_watermarks before"});
      time.append<std::int64_t>(times[row]);
    }
    picked_.end(in, in.kinds(), main);
    return next;
  }

private:
  picked_rows picked_;
};

class changelog_rows final : public graph::row_function {
public:
  explicit changelog_rows(bool has_fields) : has_fields_(has_fields) {}

  std::size_t process(const graph::record_batch& in, std::size_t from,
                      graph::function_output& out) override {
    const auto next = picked_.pick(in, from, out);
    const auto& rows = picked_.rows();
    auto& main = out.main();
    const auto* kinds = in.kinds();
    for (const auto row : rows)
      main.column(0).append<std::int8_t>(kinds == nullptr ? std::int8_t{0}
                                                          : static_cast<std::int8_t>(kinds[row]));
    auto& whole = main.column(1);
    if (has_fields_) {
      for (const auto row : rows) {
        for (std::size_t i = 0; i < in.column_count(); ++i)
          whole.child(i).append_from(in.at(i), std::size_t{row});
        whole.end_row();
      }
    } else {
      whole.append_from(in.at(0), rows);
    }
    picked_.end(in, nullptr, main);
    return next;
  }

private:
  bool has_fields_;
  picked_rows picked_;
};

class changes final : public graph::row_function {
public:
  explicit changes(bool has_fields) : has_fields_(has_fields) {}

  std::size_t process(const graph::record_batch& in, std::size_t from,
                      graph::function_output& out) override {
    const auto next = picked_.pick(in, from, out);
    const auto& rows = picked_.rows();
    auto& main = out.main();
    const auto& whole = in.at(1);
    if (has_fields_) {
      for (std::size_t i = 0; i < whole.content().children.size(); ++i)
        main.column(i).append_from(whole.child(i), rows);
    } else {
      main.column(0).append_from(whole, rows);
    }
    const auto* kinds = in.at(0).values<std::int8_t>();
    kinds_.assign(in.row_count(), row_kind::insert);
    for (const auto row : rows) {
      if (kinds[row] < 0 || kinds[row] > static_cast<std::int8_t>(row_kind::delete_))
        throw graph::failure(
            {errc::malformed_record,
             "a row of the changelog has an unknown kind: " + std::to_string(kinds[row])});
      kinds_[row] = static_cast<row_kind>(kinds[row]);
    }
    picked_.end(in, kinds_.data(), main);
    return next;
  }

private:
  bool has_fields_;
  picked_rows picked_;
  std::vector<row_kind> kinds_; ///< by column row
};

} // namespace

std::unique_ptr<graph::row_function> make_null_check(std::vector<std::string> names,
                                                     std::vector<std::uint8_t> are_required) {
  return std::make_unique<null_check>(std::move(names), std::move(are_required));
}
std::unique_ptr<graph::row_function> make_event_time_column() {
  return std::make_unique<event_time_column>();
}
std::unique_ptr<graph::row_function> make_changelog_rows(bool has_fields) {
  return std::make_unique<changelog_rows>(has_fields);
}
std::unique_ptr<graph::row_function> make_changes(bool has_fields) {
  return std::make_unique<changes>(has_fields);
}

} // namespace headrace::api
