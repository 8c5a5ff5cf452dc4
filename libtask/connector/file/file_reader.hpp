#pragma once

#include "libtask/connector/file/block_pool.hpp"
#include "libtask/connector/file/file_split.hpp"
#include "libgraph/connector/format.hpp"
#include "libgraph/connector/rate_limiter.hpp"
#include "libgraph/connector/source.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headrace::task {

/// How files are read.
struct file_reading {
  graph::row_type_ptr type;                  ///< of the rows given: all fields of a record, or some
  std::vector<std::string> partition_keys{}; ///< fields that the names of directories hold
  std::vector<std::string> metadata_fields{}; ///< fields that are told of the file itself
  std::string missing_partition{};            ///< name for NULL
  graph::row_type_ptr decoded = nullptr;      ///< what the decoder gives: `type` without constants
  bool keeps_malformed = false; ///< records that are left out are told, as dead letters
  bool splittable = true;
  double rows_per_second = 0;               ///< of one reader; 0: as fast as it goes
  std::size_t block_bytes = 1U << 20U;      ///< read at once
  std::size_t record_bytes_max = 1U << 28U; ///< a longer record is malformed

  /// Fields whose value is one for all rows of a file: they do not stand in it.
  std::vector<std::string> constants() const;
};

/// Reads file splits, one after the other, a block at a time. Strings of the batches lie in the
/// block: no copy. Calls come one after the other, on executor threads.
///
///     block   |··rest of a record··|············ read_at ············|
///             ^ begin_ (file offset block_offset_ + begin_)           ^ end_
class file_reader final : public graph::split_reader {
public:
  file_reader(file_reading reading, std::unique_ptr<graph::decoder> decoder,
              graph::reader_context context);

  status add_split(graph::source_split split) override;
  /// @errors input_not_found, input_unreadable, malformed_record, storage_failed
  result<std::optional<graph::fetched>> fetch(const graph::fetch_budget& budget) override;
  void close() override;

private:
  status open_next();
  status read_block();
  bool skip_to_first_record();
  void look_for_last_record();
  bool is_exhausted() const;
  result<graph::decoded> decode(std::size_t rows_max);
  error with_line(error failure, const graph::decode_origin& origin, byte_view input, bool last);
  graph::fetched finish_fetch(graph::record_batch rows);
  /// What was left out of the block, of a decode call that began at `from` in it.
  void keep_malformed(std::size_t from);
  /// The values that the directory of a file names, and what is told of the file.
  status read_constants(const std::string& path);
  status append_partition(const std::string& path, graph::batch_builder& row) const;
  status append_metadata(const std::string& path, graph::batch_builder& row) const;
  graph::record_batch with_constants(graph::record_batch rows) const;
  std::uint64_t offset() const { return block_offset_ + begin_; }

  file_reading reading_;
  std::unique_ptr<graph::decoder> decoder_;
  graph::reader_context context_;
  graph::rate_limiter limiter_;
  graph::batch_builder rows_;
  graph::batch_builder dead_letters_;
  std::vector<graph::left_out_record> malformed_; ///< of a decode call
  std::deque<file_split> waiting_;

  // The split being read.
  std::optional<file_split> split_;
  std::unique_ptr<readable_file> file_;
  graph::record_batch constants_; ///< one row: those among `type`, of the split
  std::shared_ptr<graph::buffer> block_;
  block_pool blocks_;
  std::uint64_t block_offset_ = 0; ///< of the block's first byte, in the file
  std::size_t begin_ = 0;          ///< of what was not consumed, in the block
  std::size_t end_ = 0;            ///< of what was read, in the block
  std::size_t searched_ = 0;       ///< no line break that ends the split before here, in the block
  bool at_file_end_ = false;
  bool needs_more_ = true;                   ///< the block holds no whole record any more
  std::optional<std::uint64_t> records_end_; ///< where the last record of the split ends
};

} // namespace headrace::task
