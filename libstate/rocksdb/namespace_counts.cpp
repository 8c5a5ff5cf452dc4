#include "libstate/rocksdb/namespace_counts.hpp"

#include "libactors/base/assert.hpp"

#include <algorithm>

namespace headrace::state {

namespace_counts::space_rows& namespace_counts::at(state_namespace space) {
  if (last_ == nullptr || last_space_ != space) {
    last_ = &spaces_[space];
    last_space_ = space;
  }
  return *last_;
}

void namespace_counts::add(state_namespace space, std::uint16_t group, std::uint64_t rows) {
  if (rows == 0)
    return;
  auto& in = at(space);
  in.groups[group] += rows;
  in.total += rows;
  total_ += rows;
}

void namespace_counts::remove(state_namespace space, std::uint16_t group) {
  auto& in = at(space);
  const auto found = in.groups.find(group);
  HEADRACE_ASSERT(found != in.groups.end(), "rows that are removed were counted");
  if (--found->second == 0)
    in.groups.erase(found);
  --total_;
  if (--in.total == 0)
    drop(space);
}

void namespace_counts::drop(state_namespace space) {
  const auto found = spaces_.find(space);
  if (found == spaces_.end())
    return;
  total_ -= found->second.total;
  spaces_.erase(found);
  last_ = nullptr;
}

std::uint64_t namespace_counts::of(state_namespace space) const {
  const auto found = spaces_.find(space);
  return found == spaces_.end() ? 0 : found->second.total;
}

std::vector<state_namespace> namespace_counts::namespaces() const {
  std::vector<state_namespace> out;
  out.reserve(spaces_.size());
  for (const auto& [space, rows] : spaces_)
    out.push_back(space);
  return out;
}

std::optional<state_namespace> namespace_counts::first() const {
  if (spaces_.empty())
    return std::nullopt;
  return spaces_.begin()->first;
}

std::vector<namespace_counts::group_rows> namespace_counts::groups_of(state_namespace space) const {
  std::vector<group_rows> out;
  const auto found = spaces_.find(space);
  if (found == spaces_.end())
    return out;
  for (const auto& [group, rows] : found->second.groups)
    out.push_back({group, rows});
  std::sort(out.begin(), out.end(),
            [](const auto& left, const auto& right) { return left.group < right.group; });
  return out;
}

void namespace_counts::encode(byte_writer& out) const {
  out.put_varint(spaces_.size());
  for (const auto& [space, rows] : spaces_) {
    out.put(space);
    out.put_varint(rows.groups.size());
    for (const auto& [group, count] : groups_of(space)) {
      out.put_varint(group);
      out.put_varint(count);
    }
  }
}

status namespace_counts::add_encoded(byte_reader& in, key_group_range groups) {
  HEADRACE_TRY(const auto spaces, in.get_varint());
  for (std::uint64_t i = 0; i < spaces; ++i) {
    HEADRACE_TRY(const auto space, in.get<state_namespace>());
    HEADRACE_TRY(const auto count, in.get_varint());
    for (std::uint64_t j = 0; j < count; ++j) {
      HEADRACE_TRY(const auto group, in.get_varint());
      HEADRACE_TRY(const auto rows, in.get_varint());
      if (group > 0xffff)
        return error(errc::malformed_message, "impossible key group: " + std::to_string(group));
      if (groups.contains(static_cast<std::int32_t>(group)))
        add(space, static_cast<std::uint16_t>(group), rows);
    }
  }
  return {};
}

} // namespace headrace::state
