#pragma once

#include "libstate/backend/backend_figures.hpp"
#include "libstate/rocksdb/rocksdb_instance.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace headrace::state {

/// Properties of one database under Flink's names (`state.backend.rocksdb.metrics.*` there): of its
/// column families together; those of the block cache are of all databases that share it.
/// `rocksdb.shared-reads` is ours: rows that other threads have read for the subtask.
class rocksdb_figures final : public backend_figures {
public:
  explicit rocksdb_figures(std::weak_ptr<rocksdb_instance> of) : of_(std::move(of)) {}
  std::vector<backend_figure> read() const override;

private:
  std::weak_ptr<rocksdb_instance> of_;
};

} // namespace headrace::state
