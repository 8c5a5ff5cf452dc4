#pragma once

#include "libgraph/connector/format.hpp"
#include "libgraph/data/record_batch.hpp"

#include <cstdint>
#include <string_view>

// What some sources, sinks and writers can do beyond what all can: they derive from these, too.
namespace headrace::graph {

/// A source whose readers give what is read alone.
class projectable_source {
public:
  virtual ~projectable_source() = default;
  /// Lets the readers give rows of `produced` from now on: some of the fields of `row_type`, in any
  /// order, and of fields that are rows perhaps some of theirs. The others need not be decoded.
  /// @returns false when it cannot: all is as before
  virtual bool project(row_type_ptr produced) = 0;
};

/// A sink that takes updates and deletions; others take inserts only.
class changelog_sink {
public:
  virtual ~changelog_sink() = default;
  /// As its options say.
  virtual bool takes_changes() const = 0;
};

/// A sink that never commits: nothing of what it wrote waits for a checkpoint. A job without an
/// interval whose sinks are all such takes no checkpoint when its input ends.
class commitless_sink {
public:
  virtual ~commitless_sink() = default;
};

/// A sink's writer that follows event time.
class watermarked_writer {
public:
  virtual ~watermarked_writer() = default;
  /// Tells how far event time has come with the rows so far. Before each `prepare_commit`.
  virtual void advance(std::int64_t watermark_ms) = 0;
};

/// Whether the records of a format say what they do to a table, so that rows may be updates and
/// deletions, read and written: those whose names begin so.
inline bool is_changelog_format(std::string_view name) { return name.starts_with("changelog-"); }

} // namespace headrace::graph
