#include "libstate/rocksdb/rocksdb_table.hpp"

#include "libstate/rocksdb/rocksdb_status.hpp"
#include "libstate/rocksdb/row_key.hpp"
#include "libactors/base/assert.hpp"

#include <rocksdb/perf_context.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <utility>

namespace headrace::state {

namespace {

/// Of a write; what a cut sees begins and ends on the mailbox, so that nobody sees a part.
constexpr std::size_t write_bytes = std::size_t{1} << 20U;
/// Up to so many rows of a namespace are deleted one by one: many range deletions slow reads down.
constexpr std::uint64_t single_deletes_max = 4096;

staged_rows& staged_of(const located_rows& at) {
  HEADRACE_ASSERT(at.staged != nullptr, "rows were located");
  return *static_cast<staged_rows*>(at.staged.get());
}

} // namespace

/// Reads a namespace as it was when the scan began.
struct rocksdb_table::running_scan {
  std::shared_ptr<rocksdb_instance> of; ///< an iterator does not outlive its database
  std::unique_ptr<rocksdb::Iterator> from;
  std::vector<namespace_counts::group_rows> groups;
  std::size_t at = 0;      ///< of groups
  std::uint64_t given = 0; ///< rows of it
  bool is_positioned = false;
  byte_string prefix;
};

rocksdb_table::rocksdb_table(std::shared_ptr<rocksdb_instance> in,
                             rocksdb::ColumnFamilyHandle* family, key_schema schema,
                             std::int32_t max_parallelism, key_group_range groups,
                             state_description description, batch_reading reading,
                             const clock* time)
    : instance_(std::move(in)), family_(family), schema_(std::move(schema)),
      max_parallelism_(max_parallelism), groups_(groups), description_(std::move(description)),
      reading_(std::move(reading)), time_(time), pace_(reading_.pays) {}

status rocksdb_table::locate(const key_batch& keys, std::span<const std::uint32_t> rows,
                             state_namespace space, access mode, located_rows& out) {
  return locate_in(
      keys, rows, [space](std::size_t) { return space; }, mode, out);
}

status rocksdb_table::locate(const key_batch& keys, std::span<const std::uint32_t> rows,
                             std::span<const state_namespace> namespaces, access mode,
                             located_rows& out) {
  HEADRACE_ASSERT(namespaces.size() == rows.size(), "a namespace a row");
  return locate_in(
      keys, rows, [&](std::size_t i) { return namespaces[i]; }, mode, out);
}

template <class SpaceAt>
status rocksdb_table::locate_in(const key_batch& keys, std::span<const std::uint32_t> rows,
                                SpaceAt space_at, access mode, located_rows& out) {
  const auto count = rows.size();
  const auto stride = description_.layout.fixed_bytes;
  out.tokens.resize(count);
  out.values.resize(stride == 0 ? 0 : count);
  out.fresh.resize(count);
  if (mode == access::insert && count > 0)
    std::memset(out.fresh.data(), 0, count);
  // Another table of another backend may have located these rows before.
  if (out.staged == nullptr || out.staged.use_count() > 1)
    out.staged = std::make_shared<staged_rows>();
  auto& staged = staged_of(out);
  staged.begin(count);
  for (std::size_t i = 0; i < count; ++i)
    out.tokens[i] = staged.add(keys.at(rows[i]), space_at(i), rows[i]);
  HEADRACE_TRY(const auto groups, keys.key_groups());
  staged.name_rows(schema_.shape(), groups);
  HEADRACE_CHECK(read_rows(staged));
  staged.is_for_reading = mode == access::read;
  if (!staged.is_for_reading)
    staged.before.assign(staged.cells.begin(), staged.cells.end());

  for (std::size_t i = 0; i < count; ++i) {
    const auto index = static_cast<std::uint32_t>(out.tokens[i]);
    auto& row = staged.rows[index];
    if (!row.is_present) {
      if (mode != access::insert) {
        out.tokens[i] = located_rows::absent;
        if (stride > 0)
          out.values[i] = nullptr;
        continue;
      }
      HEADRACE_ASSERT(groups_.contains(row.group), "a row is of the subtask's key groups");
      row.is_present = true;
      row.is_fresh = true;
      out.fresh[i] = 1;
    }
    if (stride > 0)
      out.values[i] = staged.cells.data() + std::size_t{index} * stride;
  }
  return {};
}

status rocksdb_table::read_rows(staged_rows& staged) {
  const auto stride = description_.layout.fixed_bytes;
  staged.cells.assign(staged.rows.size() * stride, std::byte{0});
  if (staged.replaced.size() < staged.rows.size() && stride == 0)
    staged.replaced.resize(staged.rows.size());
  costs_.assign((staged.order.size() + reading_.piece_rows - 1) / reading_.piece_rows, {});
  const bool is_shared = costs_.size() > 1 && reading_.threads != nullptr && pace_.is_slow();
  HEADRACE_CHECK(is_shared ? read_shared(staged) : read_alone(staged));
  if (time_ != nullptr)
    pace_.add(costs_);
  return {};
}

status rocksdb_table::read_alone(staged_rows& staged) {
  for (std::size_t piece = 0; piece < costs_.size(); ++piece)
    HEADRACE_CHECK(read_piece(staged, piece, staged.values, costs_[piece]));
  return {};
}

status rocksdb_table::read_shared(staged_rows& staged) {
  const auto pieces = costs_.size();
  std::vector<status> outcomes(pieces);
  if (piece_values_.size() < pieces)
    piece_values_.resize(pieces);
  const auto by_others = reading_.threads->run(pieces, [&](std::size_t piece) {
    try {
      piece_values_[piece].clear();
      outcomes[piece] = read_piece(staged, piece, piece_values_[piece], costs_[piece]);
    } catch (const std::exception& failure) { // there is no memory left
      outcomes[piece] = error(errc::out_of_memory, failure.what());
    }
  });
  instance_->count_shared_reads(std::min(by_others * reading_.piece_rows, staged.order.size()));
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    HEADRACE_CHECK(std::move(outcomes[piece]));
    const auto base = staged.values.size();
    staged.values.append(piece_values_[piece]);
    for (const auto index : rows_of(staged, piece))
      staged.rows[index].value_at += base;
  }
  return {};
}

std::span<const std::uint32_t> rocksdb_table::rows_of(const staged_rows& staged,
                                                      std::size_t piece) const {
  const auto first = piece * reading_.piece_rows;
  return std::span(staged.order)
      .subspan(first, std::min(reading_.piece_rows, staged.order.size() - first));
}

status rocksdb_table::read_piece(staged_rows& staged, std::size_t piece, byte_string& values,
                                 read_pace::piece& cost) const {
  std::array<rocksdb::Slice, batch_reading::piece_rows_most> names;
  std::array<rocksdb::PinnableSlice, batch_reading::piece_rows_most> found;
  std::array<rocksdb::Status, batch_reading::piece_rows_most> outcomes;
  const auto rows = rows_of(staged, piece);
  for (std::size_t i = 0; i < rows.size(); ++i)
    names[i] = staged.name_of(staged.rows[rows[i]]);
  const auto& blocks = rocksdb::get_perf_context()->block_read_count; // of this thread
  const auto blocks_before = blocks;
  const auto before_us = time_ == nullptr ? 0 : time_->now_us();
  instance_->db().MultiGet(rocksdb::ReadOptions(), family_, rows.size(), names.data(), found.data(),
                           outcomes.data(), /*sorted_input=*/true);
  cost = {rows.size(), blocks - blocks_before,
          (time_ == nullptr ? 0 : time_->now_us()) - before_us};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (outcomes[i].IsNotFound())
      continue;
    HEADRACE_CHECK(to_status(outcomes[i], "read"));
    HEADRACE_CHECK(take_value(staged, rows[i], found[i], values));
  }
  return {};
}

status rocksdb_table::take_value(staged_rows& staged, std::uint32_t index,
                                 const rocksdb::Slice& value, byte_string& values) const {
  auto& row = staged.rows[index];
  row.is_present = true;
  const auto stride = description_.layout.fixed_bytes;
  if (stride == 0) {
    row.value_at = values.size();
    row.value_size = static_cast<std::uint32_t>(value.size());
    values.append(value.data(), value.size());
    return {};
  }
  if (value.size() != stride)
    return error(errc::corrupt_snapshot,
                 "row of a state has another size than its layout: `" + description_.name + "`, " +
                     std::to_string(value.size()) + " instead of " + std::to_string(stride));
  std::memcpy(staged.cells.data() + std::size_t{index} * stride, value.data(), stride);
  return {};
}

std::optional<byte_view> rocksdb_table::get(const located_rows& at, std::size_t index) {
  if (at.is_absent(index))
    return std::nullopt;
  const auto& staged = staged_of(at);
  const auto row = static_cast<std::uint32_t>(at.tokens[index]);
  if (!staged.rows[row].is_present)
    return std::nullopt;
  return staged.value_of(row);
}

status rocksdb_table::put(located_rows& at, std::size_t index, byte_view value) {
  HEADRACE_ASSERT(!at.is_absent(index), "the row is there");
  auto& staged = staged_of(at);
  const auto row = static_cast<std::uint32_t>(at.tokens[index]);
  staged.replaced[row].assign(value);
  staged.rows[row].is_changed = true;
  return {};
}

status rocksdb_table::append(located_rows& at, std::size_t index, byte_view more) {
  HEADRACE_ASSERT(!at.is_absent(index), "the row is there");
  auto& staged = staged_of(at);
  const auto row = static_cast<std::uint32_t>(at.tokens[index]);
  if (!staged.rows[row].is_changed) {
    staged.replaced[row].assign(staged.value_of(row));
    staged.rows[row].is_changed = true;
  }
  staged.replaced[row].append(more);
  return {};
}

bool rocksdb_table::has_changed(const staged_rows& staged, std::uint32_t index) const {
  const auto& row = staged.rows[index];
  const auto stride = description_.layout.fixed_bytes;
  if (row.is_fresh || stride == 0)
    return row.is_fresh || row.is_changed;
  return std::memcmp(staged.cells.data() + std::size_t{index} * stride,
                     staged.before.data() + std::size_t{index} * stride, stride) != 0;
}

rocksdb::Slice rocksdb_table::stored_value(const staged_rows& staged, std::uint32_t index) const {
  const auto stride = description_.layout.fixed_bytes;
  if (stride == 0)
    return to_slice(staged.value_of(index));
  return {reinterpret_cast<const char*>(staged.cells.data()) + std::size_t{index} * stride, stride};
}

status rocksdb_table::write_back(located_rows& at) {
  if (at.staged == nullptr)
    return {};
  auto& staged = staged_of(at);
  HEADRACE_ASSERT(!staged.is_for_reading, "rows that are written back were located for it");
  batch_.Clear();
  for (const auto index : staged.order) {
    auto& row = staged.rows[index];
    if (!row.is_present || !has_changed(staged, index))
      continue;
    const auto value = stored_value(staged, index);
    HEADRACE_CHECK(to_status(batch_.Put(family_, staged.name_of(row), value), "write"));
    if (row.is_fresh)
      counts_.add(row.space, row.group, 1);
    row.is_fresh = false;
    if (description_.layout.is_variable()) {
      // Another write_back writes it only if it has changed again.
      row.value_at = staged.values.size();
      row.value_size = static_cast<std::uint32_t>(value.size());
      staged.values.append(value.data(), value.size());
      row.is_changed = false;
    }
    if (batch_.GetDataSize() > write_bytes) {
      HEADRACE_CHECK(instance_->write(batch_));
      batch_.Clear();
    }
  }
  if (!description_.layout.is_variable())
    staged.before.assign(staged.cells.begin(), staged.cells.end());
  return instance_->write(batch_);
}

status rocksdb_table::erase(located_rows& at, std::span<const std::uint32_t> indices) {
  if (indices.empty())
    return {};
  auto& staged = staged_of(at);
  batch_.Clear();
  for (const auto index : indices) {
    if (at.is_absent(index))
      continue;
    auto& row = staged.rows[static_cast<std::uint32_t>(at.tokens[index])];
    if (row.is_present && !row.is_fresh) {
      HEADRACE_CHECK(to_status(batch_.Delete(family_, staged.name_of(row)), "write"));
      counts_.remove(row.space, row.group);
    }
    row.is_present = false;
    row.is_fresh = false;
    at.tokens[index] = located_rows::absent;
    if (index < at.values.size())
      at.values[index] = nullptr;
  }
  return instance_->write(batch_);
}

std::shared_ptr<rocksdb_table::running_scan> rocksdb_table::begin_scan(state_namespace space) {
  auto made = std::make_shared<running_scan>();
  made->of = instance_;
  made->groups = counts_.groups_of(space);
  if (!made->groups.empty())
    made->from.reset(instance_->db().NewIterator(rocksdb::ReadOptions(), family_));
  return made;
}

status rocksdb_table::scan(state_namespace space, scan_cursor& cursor, std::size_t rows_max,
                           scanned_rows& out) {
  out.keys.clear();
  out.fixed.clear();
  out.variable.clear();
  scanned_.clear();
  if (cursor.held == nullptr)
    cursor.held = begin_scan(space);
  auto& running = *static_cast<running_scan*>(cursor.held.get());
  auto& places = scanned_places_;
  places.clear();
  while (running.at < running.groups.size() && places.size() < rows_max) {
    const auto& [group, rows] = running.groups[running.at];
    if (!running.is_positioned) {
      running.prefix.clear();
      row_key::append_group(running.prefix, group);
      row_key::append_space(running.prefix, space);
      running.from->Seek(to_slice(running.prefix));
      running.is_positioned = true;
      running.given = 0;
    }
    for (; running.given < rows && places.size() < rows_max; ++running.given) {
      HEADRACE_CHECK(to_status(running.from->status(), "scan"));
      if (!running.from->Valid() || !running.from->key().starts_with(to_slice(running.prefix)))
        return error(errc::corrupt_snapshot,
                     "state has fewer rows than were counted: `" + description_.name + "`");
      HEADRACE_TRY(const auto parts,
                   row_key::split(to_view(running.from->key()), schema_.shape(), false));
      out.keys.append(parts.key(schema_.shape()));
      const auto value = running.from->value();
      places.emplace_back(scanned_.size(), value.size());
      scanned_.resize((scanned_.size() + value.size() + 7) / 8 * 8);
      if (!value.empty()) // while all are, there is nothing to copy to
        std::memcpy(scanned_.data() + places.back().first, value.data(), value.size());
      // What lies behind the last row of a group may be the remains of many that were deleted.
      if (running.given + 1 < rows)
        running.from->Next();
    }
    if (running.given == rows) {
      ++running.at;
      running.is_positioned = false;
    }
  }
  for (const auto& [at, size] : places) {
    if (description_.layout.is_variable())
      out.variable.emplace_back(reinterpret_cast<const char*>(scanned_.data()) + at, size);
    else
      out.fixed.push_back(scanned_.data() + at);
  }
  cursor.position += places.size();
  cursor.done = running.at == running.groups.size();
  if (cursor.done)
    running.from.reset();
  return {};
}

status rocksdb_table::drop_namespace(state_namespace space) {
  const auto of = counts_.groups_of(space);
  if (of.empty())
    return {};
  batch_.Clear();
  if (counts_.of(space) <= single_deletes_max) {
    HEADRACE_CHECK(delete_rows(space, of));
  } else {
    for (const auto& [group, rows] : of) {
      byte_string first;
      row_key::append_group(first, group);
      row_key::append_space(first, space);
      HEADRACE_CHECK(
          to_status(batch_.DeleteRange(family_, first, row_key::end_of_prefix(first)), "write"));
    }
  }
  counts_.drop(space);
  return instance_->write(batch_);
}

status rocksdb_table::delete_rows(state_namespace space,
                                  const std::vector<namespace_counts::group_rows>& of) {
  const std::unique_ptr<rocksdb::Iterator> from(
      instance_->db().NewIterator(rocksdb::ReadOptions(), family_));
  for (const auto& [group, rows] : of) {
    byte_string first;
    row_key::append_group(first, group);
    row_key::append_space(first, space);
    from->Seek(to_slice(first));
    for (std::uint64_t i = 0; i < rows; ++i) {
      HEADRACE_CHECK(to_status(from->status(), "scan"));
      if (!from->Valid() || !from->key().starts_with(to_slice(first)))
        break;
      HEADRACE_CHECK(to_status(batch_.Delete(family_, from->key()), "write"));
      if (i + 1 < rows)
        from->Next();
    }
  }
  return {};
}

scanned_rows rocksdb_table::make_piece() const {
  return scanned_rows(key_batch(schema_, max_parallelism_));
}

} // namespace headrace::state
