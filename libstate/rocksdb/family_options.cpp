#include "libstate/rocksdb/family_options.hpp"

#include "libstate/keyed/time_to_live.hpp"
#include "libstate/rocksdb/rocksdb_status.hpp"

#include <rocksdb/compaction_filter.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/table.h>

#include <cstring>
#include <string>
#include <utility>

namespace headrace::state {

namespace {

constexpr int bits_a_key = 10;
constexpr std::size_t arena_block_bytes = std::size_t{128} << 10U;

/// Adds elements to a list that nobody has read: operands are what is behind one another. With
/// stamps, each begins with the row's stamp, of which the newest stays.
class list_appending final : public rocksdb::AssociativeMergeOperator {
public:
  explicit list_appending(bool has_stamps) : has_stamps_(has_stamps) {}
  const char* Name() const override {
    return has_stamps_ ? "headrace.stamped_list" : "headrace.list";
  }
  bool Merge(const rocksdb::Slice&, const rocksdb::Slice* before, const rocksdb::Slice& added,
             std::string* out, rocksdb::Logger*) const override {
    const auto head = has_stamps_ ? stamp_bytes : 0;
    if (before == nullptr) {
      out->assign(added.data(), added.size());
      return true;
    }
    if (before->size() < head || added.size() < head)
      return false;
    out->reserve(before->size() + added.size());
    out->assign(added.data(), head);
    out->append(before->data() + head, before->size() - head);
    out->append(added.data() + head, added.size() - head);
    return true;
  }

private:
  bool has_stamps_;
};

/// Leaves out what has expired. Its moment is that of the compaction's start.
class expiring_filter final : public rocksdb::CompactionFilter {
public:
  expiring_filter(bool is_list, expiry::moment at) : is_list_(is_list), at_(at) {}
  const char* Name() const override { return "headrace.expiring"; }
  Decision FilterV2(int, const rocksdb::Slice&, ValueType type, const rocksdb::Slice& value,
                    std::string* changed, std::string*) const override {
    if (type != ValueType::kValue || at_.ttl_ms == 0 || value.size() < stamp_bytes)
      return Decision::kKeep;
    std::int64_t stamp = 0;
    std::memcpy(&stamp, value.data(), sizeof(stamp));
    if (is_expired(stamp, at_.ttl_ms, at_.now_ms))
      return Decision::kRemove;
    if (!is_list_)
      return Decision::kKeep;
    const auto elements = to_view(value).substr(stamp_bytes);
    byte_string left;
    copy_unexpired(elements, at_.ttl_ms, at_.now_ms, left);
    if (left.size() == elements.size())
      return Decision::kKeep;
    changed->assign(value.data(), stamp_bytes);
    changed->append(left);
    return Decision::kChangeValue;
  }

private:
  bool is_list_;
  expiry::moment at_;
};

class expiring_filters final : public rocksdb::CompactionFilterFactory {
public:
  explicit expiring_filters(std::shared_ptr<expiry> expires) : expires_(std::move(expires)) {}
  const char* Name() const override { return "headrace.expiring"; }
  std::unique_ptr<rocksdb::CompactionFilter>
  CreateCompactionFilter(const rocksdb::CompactionFilter::Context&) override {
    const auto at = expires_->now();
    if (at.ttl_ms == 0)
      return nullptr;
    return std::make_unique<expiring_filter>(expires_->is_list(), at);
  }

private:
  std::shared_ptr<expiry> expires_;
};

} // namespace

void expiry::set_ttl(std::int64_t ttl_ms) {
  const std::lock_guard lock(mutex_);
  ttl_ms_ = ttl_ms;
}

void expiry::stop() {
  const std::lock_guard lock(mutex_);
  time_ = nullptr;
}

expiry::moment expiry::now() const {
  const std::lock_guard lock(mutex_);
  if (time_ == nullptr)
    return {};
  return {ttl_ms_, time_->wall_ms()};
}

rocksdb::ColumnFamilyOptions make_family_options(const rocksdb_memory& memory, table_kind kind,
                                                 std::shared_ptr<expiry> expires) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = memory.cache();
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(bits_a_key));
  // Indexes and filters count in the budget, before data goes; so does what each file takes.
  for (const auto role :
       {rocksdb::CacheEntryRole::kBlockBasedTableReader, rocksdb::CacheEntryRole::kFileMetadata,
        rocksdb::CacheEntryRole::kFilterConstruction})
    table.cache_usage_options.options_overrides[role].charged =
        rocksdb::CacheEntryRoleOptions::Decision::kEnabled;
  table.cache_index_and_filter_blocks = true;
  table.cache_index_and_filter_blocks_with_high_priority = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  table.data_block_index_type = rocksdb::BlockBasedTableOptions::kDataBlockBinaryAndHash;
  table.format_version = 5;

  rocksdb::ColumnFamilyOptions out;
  out.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  out.write_buffer_size = memory.write_buffer_bytes();
  out.arena_block_size = arena_block_bytes;
  out.max_write_buffer_number = 4; // one is written while a snapshot's and others are flushed
  out.compression = rocksdb::kLZ4Compression;
  out.level_compaction_dynamic_level_bytes = true;
  if (kind == table_kind::list)
    out.merge_operator = std::make_shared<list_appending>(expires->has_stamps());
  if (is_user_kind(kind))
    out.compaction_filter_factory = std::make_shared<expiring_filters>(std::move(expires));
  return out;
}

} // namespace headrace::state
