#pragma once

#include "libstate/keyed/state_description.hpp"
#include "libstate/rocksdb/rocksdb_memory.hpp"
#include "libactors/base/clock.hpp"

#include <rocksdb/options.h>

#include <cstdint>
#include <memory>
#include <mutex>

namespace headrace::state {

/// Tells compactions which values have expired. Shared by a state and its column family, which may
/// outlive the state's clock: `stop` before that goes. Any thread.
class expiry {
public:
  expiry(table_kind kind, std::int64_t ttl_ms, const clock* time)
      : kind_(kind), has_stamps_(ttl_ms > 0), ttl_ms_(ttl_ms), time_(time) {}
  void set_ttl(std::int64_t ttl_ms);
  void stop();
  /// Whether values carry stamps: fixed for a column family, while the TTL may change.
  bool has_stamps() const { return has_stamps_; }
  bool is_list() const { return kind_ == table_kind::list; }
  /// What a compaction that begins now goes by; TTL 0: nothing expires.
  struct moment {
    std::int64_t ttl_ms = 0;
    std::int64_t now_ms = 0;
  };
  moment now() const;

private:
  table_kind kind_;
  bool has_stamps_;
  mutable std::mutex mutex_;
  std::int64_t ttl_ms_;
  const clock* time_;
};

/// Options of the column family of one state.
rocksdb::ColumnFamilyOptions make_family_options(const rocksdb_memory& memory, table_kind kind,
                                                 std::shared_ptr<expiry> expires);

} // namespace headrace::state
