#include "libstate/rocksdb/row_rewriting.hpp"

#include "libstate/keyed/time_to_live.hpp"
#include "libstate/rocksdb/rocksdb_status.hpp"
#include "libstate/rocksdb/sorted_import.hpp"

#include <cstring>
#include <memory>
#include <utility>

namespace headrace::state {

namespace {

/// Rewrites values one by one; keeps its buffers.
class value_rewriter {
public:
  explicit value_rewriter(const row_rewriting& how) : how_(how) {}

  /// The view is valid until the next call.
  result<byte_view> rewrite(byte_view stored) {
    byte_writer to(out_);
    out_.clear();
    auto stamp_ms = how_.now_ms;
    if (how_.stored.ttl_ms > 0) {
      if (stored.size() < stamp_bytes)
        return error(errc::malformed_message, "a value without a stamp");
      std::memcpy(&stamp_ms, stored.data(), sizeof(stamp_ms));
      stored.remove_prefix(stamp_bytes);
    }
    if (how_.wanted.ttl_ms > 0)
      to.put(stamp_ms);
    if (how_.stored.kind == table_kind::list) {
      const element_stamps stamps{how_.stored.ttl_ms > 0, how_.wanted.ttl_ms > 0, how_.now_ms};
      HEADRACE_CHECK(rewrite_elements(stored, stamps, how_.migration, content_));
      stored = content_;
    } else if (how_.migration != nullptr) {
      HEADRACE_CHECK(how_.migration->rewrite(stored, content_));
      stored = content_;
    }
    out_.append(stored);
    return byte_view(out_);
  }

private:
  const row_rewriting& how_;
  byte_string content_;
  byte_string out_;
};

} // namespace

status rewrite_rows(rocksdb_instance& in, rocksdb::ColumnFamilyHandle* from,
                    rocksdb::ColumnFamilyHandle* to, const row_rewriting& how) {
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  options.readahead_size = std::size_t{2} << 20U;
  const std::unique_ptr<rocksdb::Iterator> row(in.db().NewIterator(options, from));
  value_rewriter values(how);
  sorted_import rows(in, to);
  for (row->SeekToFirst(); row->Valid(); row->Next()) {
    auto value = values.rewrite(to_view(row->value()));
    if (!value)
      return error(errc::corrupt_snapshot, "corrupt value of state `" + how.wanted.name + "`",
                   std::move(value).error());
    HEADRACE_CHECK(rows.add(to_view(row->key()), *value));
  }
  HEADRACE_CHECK(to_status(row->status(), "read a state"));
  return rows.finish();
}

} // namespace headrace::state
