#pragma once

#include "libgraph/data/record_batch.hpp"
#include "libactors/base/clock.hpp"
#include "libactors/base/file_system.hpp"
#include "libactors/base/ids.hpp"
#include "libactors/base/log.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headrace::graph {

/// A part of a source that one reader reads: what it is and how far it was read, both in `state`,
/// encoded by the connector. A value; in snapshots.
struct source_split {
  std::string id;
  byte_string state;
  friend bool operator==(const source_split&, const source_split&) = default;
};

enum class boundedness : std::uint8_t { bounded, unbounded };

/// What a split enumerator may do. Its calls are carried out by the source coordinator after the
/// enumerator's method returns.
class enumerator_context {
public:
  virtual ~enumerator_context() = default;
  virtual std::int32_t reader_count() const = 0;
  /// Registered readers, ascending.
  virtual std::vector<std::int32_t> registered_readers() const = 0;
  virtual void assign(std::int32_t reader, std::vector<source_split> splits) = 0;
  /// The reader gets no more splits: it finishes when done with those it has.
  virtual void no_more_splits(std::int32_t reader) = 0;
  /// Runs `discover` on the executor (it may block), then `handle` in the coordinator's turn.
  /// Repeats every `period` when that is not zero.
  virtual void call_async(std::function<result<std::vector<source_split>>()> discover,
                          std::function<status(result<std::vector<source_split>>)> handle,
                          std::chrono::milliseconds period) = 0;
  virtual headrace::file_system& files() = 0;
  virtual const headrace::clock& time() const = 0;
  virtual const headrace::logger& log() const = 0;
};

/// Discovers splits and hands them out. One a source, in the source coordinator's turns; methods
/// never block. A pure core: facts in, calls on the context out.
class split_enumerator {
public:
  virtual ~split_enumerator() = default;
  virtual status start() = 0;
  virtual status add_reader(std::int32_t reader) = 0;
  /// The reader has nothing left to read.
  virtual status handle_split_request(std::int32_t reader) = 0;
  /// Splits of a failed reader, as assigned since the restored checkpoint, come back.
  virtual status add_splits_back(std::vector<source_split> splits, std::int32_t reader) = 0;
  /// Encodes what was discovered and not yet assigned.
  virtual result<byte_string> snapshot(checkpoint_id checkpoint) = 0;
  virtual void close() {}
};

/// How much one fetch may give.
struct fetch_budget {
  std::size_t rows_max = 4096;
  std::size_t bytes_max = std::size_t{1} << 20U;
};

/// What one fetch gave: rows of one split, and that split's state behind them.
struct fetched {
  std::string split_id;
  record_batch rows;                 ///< may be empty
  byte_string state_after;           ///< the split's state once `rows` were emitted
  bool split_finished = false;       ///< the split ends behind `rows`
  std::chrono::milliseconds wait{0}; ///< nothing there now: fetch again after this
  std::uint64_t skipped_records = 0; ///< malformed ones left out by option
  record_batch left_out{};           ///< of these what there was, as `dead_letter_type`; or empty
};

/// What is kept of a malformed record: its bytes, why it is none, and where it was: a file, and the
/// offset of its first byte there.
row_type_ptr dead_letter_type();

/// Reads splits, one step at a time. Calls come one after the other, but on executor threads: may
/// block in `fetch`, for at most some 100 ms.
class split_reader {
public:
  virtual ~split_reader() = default;
  virtual status add_split(source_split split) = 0;
  /// Reads on. An empty optional: no split to read from.
  virtual result<std::optional<fetched>> fetch(const fetch_budget& budget) = 0;
  virtual void close() {}
};

/// What a reader gets.
struct reader_context {
  std::int32_t subtask = 0;
  std::int32_t parallelism = 1;
  headrace::file_system& files;
  const headrace::clock& time;
  headrace::logger log;
};

/// A source: makes its enumerator for the master and its readers for the subtasks.
class source {
public:
  virtual ~source() = default;
  virtual boundedness bounds() const = 0;
  virtual row_type_ptr row_type() const = 0;
  /// `restored`: what the enumerator's snapshot gave, or nothing at first start. `context` outlives
  /// the enumerator.
  virtual result<std::unique_ptr<split_enumerator>>
  create_enumerator(enumerator_context& context, std::optional<byte_string> restored) const = 0;
  virtual result<std::unique_ptr<split_reader>> create_reader(reader_context context) const = 0;
};

} // namespace headrace::graph
