#include "libtask/operator/correlate/repeat_rows.hpp"

#include <algorithm>

namespace headrace::task {
namespace {

class repeat_rows final : public table_rows {
public:
  status take(const graph::record_batch& in, const graph::record_batch& arguments) override {
    in_ = in;
    counts_ = arguments.column_at(0);
    next_ = 0;
    made_ = 0;
    return {};
  }

  result<bool> make(std::size_t rows_max, made_rows& out) override {
    while (next_ < in_.size() && out.parents.size() < rows_max) {
      const auto row = in_.row_at(next_);
      const auto wanted = counts_->is_null(row)
                              ? 0
                              : std::max<std::int64_t>(counts_->values<std::int64_t>()[row], 0);
      const auto room = static_cast<std::int64_t>(rows_max - out.parents.size());
      const auto count = std::min(wanted - made_, room);
      out.parents.insert(out.parents.end(), static_cast<std::size_t>(count), row);
      made_ += count;
      if (made_ < wanted)
        break;
      ++next_;
      made_ = 0;
    }
    const bool has_more = next_ < in_.size();
    if (!has_more) {
      in_ = {};
      counts_ = nullptr;
    }
    return has_more;
  }

private:
  graph::record_batch in_;
  graph::column_ptr counts_;
  std::size_t next_ = 0;
  std::int64_t made_ = 0; ///< of the next row
};

} // namespace

std::unique_ptr<table_rows> make_repeat_rows() { return std::make_unique<repeat_rows>(); }

} // namespace headrace::task
