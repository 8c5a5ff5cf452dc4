#include "libstate/heap/heap_snapshot_job.hpp"

#include "libstate/heap/heap_map.hpp"
#include "libstate/keyed/time_to_live.hpp"
#include "libstate/snapshot/snapshot_writer.hpp"

#include <algorithm>
#include <cstring>

namespace headrace::state {

namespace {

constexpr std::size_t piece_rows = 1024;
constexpr std::size_t fetch_ahead = 16;

struct row_ref {
  std::uint32_t directory;
  std::uint32_t row; ///< as numbered by the directory
};

/// References to the rows of one table in a range of key groups, sorted by group.
struct sorted_rows {
  std::vector<row_ref> rows;
  std::vector<std::size_t> ends; ///< by group of the range
};

/// Reads the rows of one table image.
class image_reader {
public:
  image_reader(const table_image& image, const key_schema& schema, std::int32_t max_parallelism)
      : image_(&image), layout_(image.layout),
        keys_(keys_of(schema, image.description), max_parallelism),
        is_map_(image.description.kind == table_kind::map) {}

  const std::byte* row(row_ref at) const {
    const auto* page = image_->directories[at.directory].pages[at.row >> layout_.row_bits];
    return layout_.row(page, at.row & ((1U << layout_.row_bits) - 1U));
  }

  std::size_t row_count() const {
    std::size_t out = 0;
    for (const auto& directory : image_->directories)
      out += static_cast<std::size_t>(directory.row_count);
    return out;
  }

  /// Calls `body(row_ref, row)` for all rows.
  template <class Body>
  void for_each_row(Body body) const {
    for (std::uint32_t directory = 0; directory < image_->directories.size(); ++directory) {
      const auto& pages = image_->directories[directory].pages;
      for (std::uint32_t number = 0; number < pages.size(); ++number) {
        const auto& header = *reinterpret_cast<const page_header*>(pages[number]);
        for (std::uint32_t i = 0; i < header.used; ++i) {
          if (header.is_live(i))
            body(row_ref{directory, number << layout_.row_bits | i}, layout_.row(pages[number], i));
        }
      }
    }
  }

  /// Calls `body(groups)` with the key groups of all rows, in the same order, some at a time.
  template <class Body>
  status for_each_piece(const std::atomic<bool>& is_canceled, Body body) {
    status so_far;
    std::vector<std::uint16_t> groups;
    const auto end_piece = [&] {
      if (is_canceled.load(std::memory_order_relaxed))
        so_far = error(errc::checkpoint_expired, "snapshot was canceled");
      if (so_far)
        so_far = keys_.groups(groups);
      if (so_far)
        body(groups);
      keys_.clear();
    };
    for_each_row([&](row_ref at, const std::byte* from) {
      if (!so_far)
        return;
      auto key = stored_key(from, at.row == image_->directories[at.directory].null_row);
      if (is_map_)
        key = heap_map::split(key).key;
      if (auto added = keys_.append_stored(key); !added)
        so_far = std::move(added);
      if (keys_.size() == piece_rows)
        end_piece();
    });
    if (so_far)
      end_piece();
    return so_far;
  }

  void fill(row_ref at, snapshot_row& out) const {
    const auto& directory = image_->directories[at.directory];
    const auto* from = row(at);
    out.space = directory.space;
    out.key_is_null = at.row == directory.null_row;
    out.key = stored_key(from, out.key_is_null);
    if (is_map_) {
      const auto split = heap_map::split(out.key);
      out.key = split.key;
      out.entry_key = split.entry_key;
      out.key_is_null = split.key.empty();
    }
    if (image_->description.ttl_ms > 0)
      std::memcpy(&out.stamp_ms, from + image_->stamp_at, sizeof(out.stamp_ms));
    out.value = layout_.has_blob ? layout_.value(from).view()
                                 : byte_view(reinterpret_cast<const char*>(from) + layout_.fixed_at,
                                             image_->description.layout.fixed_bytes);
  }

private:
  byte_view stored_key(const std::byte* from, bool is_null) const {
    if (layout_.shape == key_shape::bytes)
      return row_layout::bytes_key(from).view();
    return is_null ? byte_view() : byte_view(reinterpret_cast<const char*>(from), 8);
  }

  const table_image* image_;
  row_layout layout_;
  key_batch keys_;
  bool is_map_;
};

/// The key group of every row of a table, in the order in which the pages hold them: computed once,
/// read by each pass.
struct grouped_rows {
  std::vector<std::uint16_t> groups;
};

result<grouped_rows> group_rows(image_reader& reader, key_group_range groups,
                                const std::atomic<bool>& is_canceled,
                                std::vector<std::size_t>& counts) {
  grouped_rows out;
  out.groups.reserve(reader.row_count());
  HEADRACE_CHECK(reader.for_each_piece(is_canceled, [&](const auto& of_rows) {
    for (const auto group : of_rows) {
      HEADRACE_ASSERT(groups.contains(group), "a row is of the subtask's key groups");
      ++counts[static_cast<std::size_t>(group - groups.first)];
    }
    out.groups.insert(out.groups.end(), of_rows.begin(), of_rows.end());
  }));
  return out;
}

/// Sorts the rows of some groups: counts them, then places each.
sorted_rows sort_rows(const image_reader& reader, const grouped_rows& grouped,
                      key_group_range groups) {
  sorted_rows out;
  out.ends.resize(static_cast<std::size_t>(groups.size()) + 1);
  std::size_t total = 0;
  for (const auto group : grouped.groups) {
    if (groups.contains(group)) {
      ++out.ends[static_cast<std::size_t>(group - groups.first) + 1];
      ++total;
    }
  }
  for (std::size_t i = 1; i < out.ends.size(); ++i)
    out.ends[i] += out.ends[i - 1];
  out.rows.resize(total);
  // Each count is first where its group begins, and where it ends once its rows are placed.
  const auto* group = grouped.groups.data();
  reader.for_each_row([&](row_ref at, const std::byte*) {
    if (groups.contains(*group))
      out.rows[out.ends[static_cast<std::size_t>(*group - groups.first)]++] = at;
    ++group;
  });
  return out;
}

/// Writes one table's rows of one group.
status write_rows(const image_reader& reader, const state_description& description,
                  std::span<const row_ref> rows, std::uint32_t state, std::int64_t now_ms,
                  snapshot_writer& writer) {
  snapshot_row row;
  row.state = state;
  byte_string elements;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    // Rows of a group lie all over the pages.
    if (i + fetch_ahead < rows.size())
      __builtin_prefetch(reader.row(rows[i + fetch_ahead]));
    reader.fill(rows[i], row);
    if (description.ttl_ms > 0) {
      if (is_expired(row.stamp_ms, description.ttl_ms, now_ms))
        continue;
      if (description.kind == table_kind::list) {
        copy_unexpired(row.value, description.ttl_ms, now_ms, elements);
        row.value = elements;
      }
    }
    HEADRACE_CHECK(writer.add(row));
  }
  return {};
}

} // namespace

heap_snapshot_job::heap_snapshot_job(plan what, std::shared_ptr<page_pool> pool,
                                     std::shared_ptr<snapshot_hold> hold)
    : plan_(std::move(what)), pool_(std::move(pool)), hold_(std::move(hold)) {}

heap_snapshot_job::~heap_snapshot_job() { hold_->release(); }

result<keyed_state_handle> heap_snapshot_job::run(snapshot_target& target) {
  HEADRACE_TRY(auto* const out, target.output());
  snapshot_header header;
  header.key_type = *plan_.key.type();
  header.max_parallelism = plan_.max_parallelism;
  header.groups = plan_.groups;
  std::vector<image_reader> readers;
  for (const auto& table : plan_.tables) {
    header.states.push_back(table.description);
    readers.emplace_back(table, plan_.key, plan_.max_parallelism);
  }
  snapshot_writer writer(*out, std::move(header));
  std::vector<std::size_t> counts(static_cast<std::size_t>(plan_.groups.size()));
  std::vector<grouped_rows> grouped;
  for (auto& reader : readers) {
    HEADRACE_TRY(auto of_table, group_rows(reader, plan_.groups, is_canceled_, counts));
    grouped.push_back(std::move(of_table));
  }
  for (auto first = plan_.groups.first; first < plan_.groups.end;) {
    // As many groups as the references allow, at least one.
    std::size_t rows = 0;
    auto end = first;
    do {
      rows += counts[static_cast<std::size_t>(end - plan_.groups.first)];
      ++end;
    } while (end < plan_.groups.end &&
             rows + counts[static_cast<std::size_t>(end - plan_.groups.first)] <=
                 plan_.references_max);
    std::vector<sorted_rows> sorted;
    for (std::size_t table = 0; table < readers.size(); ++table)
      sorted.push_back(sort_rows(readers[table], grouped[table], {first, end}));
    for (auto group = first; group < end; ++group) {
      if (is_canceled_.load(std::memory_order_relaxed))
        return error(errc::checkpoint_expired, "snapshot was canceled");
      HEADRACE_CHECK(writer.begin_group(group));
      for (std::uint32_t state = 0; state < readers.size(); ++state) {
        const auto& table = sorted[state];
        const auto index = static_cast<std::size_t>(group - first);
        const auto begin = index == 0 ? 0 : table.ends[index - 1];
        HEADRACE_CHECK(write_rows(readers[state], plan_.tables[state].description,
                                  std::span(table.rows).subspan(begin, table.ends[index] - begin),
                                  state, plan_.now_ms, writer));
      }
    }
    first = end;
  }
  HEADRACE_TRY(auto segment, writer.finish());
  return keyed_state_handle{plan_.groups, "canonical", std::move(segment), {}};
}

} // namespace headrace::state
