#include "libtask/operator/rank/row_list.hpp"

#include "libactors/base/assert.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace headrace::task {
namespace {

constexpr std::size_t number_bytes = sizeof(std::uint32_t);

/// Writes the parts of a list one behind the other into bytes of the right size.
class list_writer {
public:
  list_writer(std::size_t count, std::size_t entry_bytes, std::int64_t written_ms,
              byte_string& out) {
    out.resize(row_list::header_bytes + count * number_bytes + entry_bytes);
    std::memcpy(out.data(), &written_ms, sizeof(written_ms));
    const auto stored = static_cast<std::uint32_t>(count);
    std::memcpy(out.data() + sizeof(written_ms), &stored, sizeof(stored));
    end_at_ = out.data() + row_list::header_bytes;
    entry_at_ = end_at_ + count * number_bytes;
    entries_ = entry_at_;
  }

  void put_end(std::size_t end) {
    const auto stored = static_cast<std::uint32_t>(end);
    std::memcpy(end_at_, &stored, sizeof(stored));
    end_at_ += sizeof(stored);
  }
  void put_raw(byte_view raw) {
    if (!raw.empty())
      std::memcpy(entry_at_, raw.data(), raw.size());
    entry_at_ += raw.size();
  }
  void put(byte_view key, byte_view row) {
    const auto size = static_cast<std::uint32_t>(key.size());
    put_raw({reinterpret_cast<const char*>(&size), sizeof(size)});
    put_raw(key);
    put_raw(row);
    put_end(written());
  }
  std::size_t written() const { return static_cast<std::size_t>(entry_at_ - entries_); }

private:
  char* end_at_ = nullptr;
  char* entry_at_ = nullptr;
  const char* entries_ = nullptr;
};

const std::string ordered_by = "ordered by ";

/// Takes a word off the end.
bool take_end(std::string& from, std::string_view word) {
  if (!from.ends_with(word))
    return false;
  from.resize(from.size() - word.size());
  return true;
}

} // namespace

std::vector<graph::logical_type::field> parts_of(const graph::logical_type& rows,
                                                 const graph::rank_spec& spec) {
  auto out = rows.fields();
  for (const auto& each : spec.order) {
    const auto& by = rows.fields()[static_cast<std::size_t>(each.column)];
    out.push_back({ordered_by + by.name + (each.is_descending ? " DESC" : " ASC") +
                       (each.nulls_first ? " NULLS FIRST" : " NULLS LAST"),
                   by.type,
                   {}});
  }
  out.push_back({"ranks " + std::to_string(spec.first) + " to " + std::to_string(spec.last),
                 graph::logical_type::bigint(),
                 {}});
  return out;
}

rank_parts split_parts(const std::vector<graph::logical_type::field>& parts) {
  rank_parts out;
  if (parts.empty())
    return out;
  auto first = parts.size() - 1; // the last part tells the ranks
  while (first > 0 && parts[first - 1].name.starts_with(ordered_by))
    --first;
  out.columns.assign(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(first));
  for (auto i = first; i + 1 < parts.size(); ++i) {
    auto by = parts[i];
    by.name.erase(0, ordered_by.size());
    graph::order_column how;
    how.nulls_first = take_end(by.name, " NULLS FIRST");
    if (!how.nulls_first)
      take_end(by.name, " NULLS LAST");
    how.is_descending = take_end(by.name, " DESC");
    if (!how.is_descending)
      take_end(by.name, " ASC");
    out.ordered.push_back(std::move(by));
    out.order.push_back(how);
  }
  return out;
}

bool row_list::is_list(byte_view bytes) {
  if (bytes.size() < header_bytes)
    return bytes.empty();
  const row_list list(bytes);
  const auto room = bytes.size() - header_bytes;
  if (list.count_ > room / (2 * number_bytes)) // an end, and the size of a key
    return false;
  const auto all = room - list.count_ * number_bytes;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < list.count_; ++i) {
    const auto end = list.end_of(i);
    if (end < begin + number_bytes || end > all ||
        number_at(list.first_entry() + begin) > end - begin - number_bytes)
      return false;
    begin = end;
  }
  return begin == all;
}

std::int64_t row_list::written_ms() const {
  std::int64_t out = 0;
  if (!bytes_.empty())
    std::memcpy(&out, bytes_.data(), sizeof(out));
  return out;
}

byte_view row_list::entries(std::size_t from, std::size_t to) const {
  if (from >= to)
    return {};
  const auto begin = begin_of(from);
  const auto end = end_of(to - 1);
  return bytes_.substr(header_bytes + count_ * number_bytes + begin, end - begin);
}

byte_view row_list::entry(std::size_t index) const { return entries(index, index + 1); }

byte_view row_list::row(std::size_t index) const {
  const auto whole = entry(index);
  return whole.substr(number_bytes + number_at(whole.data()));
}

std::size_t row_list::lower_bound(byte_view wanted) const {
  std::size_t from = 0;
  std::size_t to = count_;
  while (from < to) {
    const auto middle = from + (to - from) / 2;
    if (key(middle) < wanted)
      from = middle + 1;
    else
      to = middle;
  }
  return from;
}

std::size_t row_list::upper_bound(byte_view wanted) const {
  std::size_t from = 0;
  std::size_t to = count_;
  while (from < to) {
    const auto middle = from + (to - from) / 2;
    if (wanted < key(middle))
      to = middle;
    else
      from = middle + 1;
  }
  return from;
}

std::optional<std::size_t> row_list::find(byte_view wanted_key, byte_view wanted_row) const {
  for (auto i = lower_bound(wanted_key); i < count_ && key(i) == wanted_key; ++i)
    if (row(i) == wanted_row)
      return i;
  return std::nullopt;
}

void row_list::insert(std::size_t at, byte_view key, byte_view row, std::size_t count_max,
                      std::int64_t written_ms, byte_string& out) const {
  HEADRACE_ASSERT(at <= count_ && at < count_max, "an entry has a place in the list");
  const auto kept = std::min(count_, count_max - 1);
  const auto before = entries(0, at);
  const auto behind = entries(at, kept);
  const auto added = number_bytes + key.size() + row.size();
  list_writer writer(kept + 1, before.size() + behind.size() + added, written_ms, out);
  for (std::size_t i = 0; i < at; ++i)
    writer.put_end(end_of(i));
  writer.put_raw(before);
  writer.put(key, row);
  writer.put_raw(behind);
  for (auto i = at; i < kept; ++i)
    writer.put_end(end_of(i) + added);
}

void row_list::erase(std::size_t at, std::int64_t written_ms, byte_string& out) const {
  const auto before = entries(0, at);
  const auto behind = entries(at + 1, count_);
  const auto gone = entry(at).size();
  list_writer writer(count_ - 1, before.size() + behind.size(), written_ms, out);
  for (std::size_t i = 0; i < at; ++i)
    writer.put_end(end_of(i));
  writer.put_raw(before);
  writer.put_raw(behind);
  for (auto i = at + 1; i < count_; ++i)
    writer.put_end(end_of(i) - gone);
}

void row_list::slice(std::size_t from, std::size_t to, std::int64_t written_ms,
                     byte_string& out) const {
  const auto kept = entries(from, to);
  const auto before = begin_of(from);
  list_writer writer(to - from, kept.size(), written_ms, out);
  for (auto i = from; i < to; ++i)
    writer.put_end(end_of(i) - before);
  writer.put_raw(kept);
}

} // namespace headrace::task
