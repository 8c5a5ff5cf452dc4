#include "libgraph/data/gather.hpp"

#include "libgraph/data/string_blocks.hpp"
#include "libactors/base/assert.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace headrace::graph {

namespace {

constexpr std::size_t rows_max = std::numeric_limits<std::int32_t>::max();
/// Buffers that hold less than this on average are copied together when there are many of them.
constexpr std::size_t small_buffers_max = 16;
constexpr std::size_t small_buffer_bytes = 16384;

template <class T>
void gather_width(const std::byte* from, std::span<const std::uint32_t> rows, std::byte* to) {
  const auto* source = reinterpret_cast<const T*>(from);
  auto* target = reinterpret_cast<T*>(to);
  for (std::size_t i = 0; i < rows.size(); ++i)
    target[i] = source[rows[i]];
}

template <class RowAt>
void gather_bits(const std::uint8_t* from, std::size_t count, RowAt row_at, std::uint8_t* to,
                 std::size_t to_bit) {
  const auto bit = [&](std::size_t i) {
    const std::size_t row = row_at(i);
    return (static_cast<unsigned>(from[row >> 3U]) >> (row & 7U)) & 1U;
  };
  const auto put = [&](std::size_t i) {
    const auto at = to_bit + i;
    to[at >> 3U] = static_cast<std::uint8_t>(to[at >> 3U] | bit(i) << (at & 7U));
  };
  std::size_t i = 0;
  for (; i < count && ((to_bit + i) & 7U) != 0; ++i)
    put(i);
  for (; i + 8 <= count; i += 8) {
    unsigned byte = 0;
    for (unsigned j = 0; j < 8; ++j)
      byte |= bit(i + j) << j;
    to[(to_bit + i) >> 3U] = static_cast<std::uint8_t>(byte);
  }
  for (; i < count; ++i)
    put(i);
}

std::size_t total_rows(std::span<const column_piece> pieces) {
  std::size_t out = 0;
  for (const auto& each : pieces)
    out += each.count;
  HEADRACE_ASSERT(out <= rows_max, "a column of 2^31 rows or more");
  return out;
}

void copy_values(const column_piece& piece, std::size_t width, std::byte* to) {
  const auto* from = piece.source->values<std::byte>();
  if (piece.rows != nullptr)
    gather_values(width, from, {piece.rows, piece.count}, to);
  else if (piece.count > 0)
    std::memcpy(to, from + piece.from * width, piece.count * width);
}

/// Returns the validity of the assembled column, or nothing when no piece has NULLs.
std::shared_ptr<buffer> assemble_validity(std::span<const column_piece> pieces, std::size_t total) {
  bool has_nulls = false;
  for (const auto& each : pieces)
    has_nulls |= each.count > 0 && each.source->has_nulls();
  if (!has_nulls)
    return nullptr;
  auto out = buffer::allocate((total + 7) / 8);
  std::memset(out->mutable_data(), 0, out->size_bytes());
  std::size_t at = 0;
  for (const auto& each : pieces) {
    gather_validity(each, out->mutable_as<std::uint8_t>(), at);
    at += each.count;
  }
  return out;
}

/// Decides whether the bytes of the strings in `slots` are copied.
bool is_copied(std::span<const column_piece> pieces, std::span<const string_slot> slots,
               string_bytes strings) {
  std::vector<const buffer*> holders;
  for (const auto& each : pieces)
    for (const auto& data : each.source->content().data)
      holders.push_back(data.get());
  std::sort(holders.begin(), holders.end());
  holders.erase(std::unique(holders.begin(), holders.end()), holders.end());
  const auto buffers = holders.size();
  if (strings != string_bytes::copy_if_sparse || buffers == 0)
    return strings == string_bytes::copy && buffers > 0;
  std::size_t pinned = 0;
  for (const auto* each : holders)
    pinned += each->size_bytes();
  std::size_t used = 0;
  for (const auto& each : slots)
    used += each.is_inline() ? 0 : each.size;
  return pinned > 4 * used || (buffers > small_buffers_max && used < buffers * small_buffer_bytes);
}

void copy_bytes(std::span<const column_piece> pieces, string_slot* slots, string_blocks& blocks) {
  std::size_t used = 0;
  const auto total = total_rows(pieces);
  for (std::size_t i = 0; i < total; ++i)
    used += slots[i].is_inline() ? 0 : slots[i].size;
  blocks.reserve(used);
  for (const auto& each : pieces) {
    for (std::size_t i = 0; i < each.count; ++i, ++slots) {
      if (slots->is_inline())
        continue;
      const auto& data = *each.source->content().data[slots->place.buffer_index];
      blocks.append(slots, {data.as<char>() + slots->place.offset, slots->size});
    }
  }
}

/// Points the slots of each piece at the buffers of all pieces, each of them held once.
void share_bytes(std::span<const column_piece> pieces, string_slot* slots,
                 std::vector<buffer_ptr>& data) {
  if (pieces.size() == 1) {
    data = pieces[0].source->content().data;
    return;
  }
  std::unordered_map<const buffer*, std::uint32_t> places;
  std::vector<std::uint32_t> renamed;
  for (const auto& each : pieces) {
    renamed.clear();
    if (each.count == 0)
      continue;
    for (const auto& holder : each.source->content().data) {
      const auto [at, is_new] =
          places.try_emplace(holder.get(), static_cast<std::uint32_t>(data.size()));
      if (is_new)
        data.push_back(holder);
      renamed.push_back(at->second);
    }
    for (std::size_t i = 0; i < each.count; ++i, ++slots)
      if (!slots->is_inline())
        slots->place.buffer_index = renamed[slots->place.buffer_index];
  }
}

void assemble_strings(std::span<const column_piece> pieces, string_bytes strings,
                      column::parts& out) {
  auto slots = buffer::allocate(out.size * sizeof(string_slot));
  std::byte* to = slots->mutable_data();
  for (const auto& each : pieces) {
    copy_values(each, sizeof(string_slot), to);
    to += each.count * sizeof(string_slot);
  }
  auto* filled = slots->mutable_as<string_slot>();
  if (is_copied(pieces, {filled, out.size}, strings)) {
    string_blocks blocks;
    copy_bytes(pieces, filled, blocks);
    out.data = blocks.finish();
  } else {
    share_bytes(pieces, filled, out.data);
  }
  out.values = std::move(slots);
}

/// Copies offsets; the rows of the elements become the pieces of the children.
void assemble_lists(const logical_type& type, std::span<const column_piece> pieces,
                    string_bytes strings, column::parts& out) {
  auto values = buffer::allocate((out.size + 1) * sizeof(std::int32_t));
  auto* offsets = values->mutable_as<std::int32_t>();
  std::size_t end = 0;
  *offsets++ = 0;
  std::vector<std::vector<std::uint32_t>> element_rows(pieces.size());
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    const auto& piece = pieces[p];
    const auto* from = piece.source->values<std::int32_t>();
    for (std::size_t i = 0; i < piece.count; ++i) {
      const auto row = piece.rows != nullptr ? piece.rows[i] : piece.from + i;
      if (!piece.source->is_null(row))
        for (auto element = from[row]; element < from[row + 1]; ++element)
          element_rows[p].push_back(static_cast<std::uint32_t>(element));
      HEADRACE_ASSERT(end + element_rows[p].size() <= rows_max, "a list of 2^31 elements or more");
      *offsets++ = static_cast<std::int32_t>(end + element_rows[p].size());
    }
    end += element_rows[p].size();
  }
  out.values = std::move(values);
  std::vector<column_piece> elements(pieces.size());
  for (std::size_t child = 0; child < type.storage_child_count(); ++child) {
    for (std::size_t p = 0; p < pieces.size(); ++p)
      elements[p] = {&pieces[p].source->child(child), element_rows[p].data(), 0,
                     element_rows[p].size()};
    out.children.push_back(assemble_column(type.storage_child(child), elements, strings));
  }
}

void assemble_rows(const logical_type& type, std::span<const column_piece> pieces,
                   string_bytes strings, column::parts& out) {
  std::vector<column_piece> fields(pieces.begin(), pieces.end());
  for (std::size_t child = 0; child < type.storage_child_count(); ++child) {
    for (std::size_t p = 0; p < pieces.size(); ++p)
      fields[p].source = &pieces[p].source->child(child);
    out.children.push_back(assemble_column(type.storage_child(child), fields, strings));
  }
}

} // namespace

void gather_values(std::size_t width_bytes, const std::byte* from,
                   std::span<const std::uint32_t> rows, std::byte* to) {
  switch (width_bytes) {
  case 1:
    return gather_width<std::uint8_t>(from, rows, to);
  case 2:
    return gather_width<std::uint16_t>(from, rows, to);
  case 4:
    return gather_width<std::uint32_t>(from, rows, to);
  case 8:
    return gather_width<std::uint64_t>(from, rows, to);
  default:
    return gather_width<int128>(from, rows, to);
  }
}

void gather_validity(const column_piece& piece, std::uint8_t* to, std::size_t to_bit) {
  static constexpr std::uint8_t all_valid = 0xff;
  const auto* from = piece.source->validity();
  if (from == nullptr)
    gather_bits(
        &all_valid, piece.count, [](std::size_t i) { return i & 7U; }, to, to_bit);
  else if (piece.rows != nullptr)
    gather_bits(
        from, piece.count, [&](std::size_t i) { return piece.rows[i]; }, to, to_bit);
  else
    gather_bits(
        from, piece.count, [&](std::size_t i) { return piece.from + i; }, to, to_bit);
}

column_ptr assemble_column(const logical_type& type, std::span<const column_piece> pieces,
                           string_bytes strings) {
  column::parts out;
  out.size = total_rows(pieces);
  out.validity = assemble_validity(pieces, out.size);
  switch (type.physical()) {
  case physical_type::none:
    break;
  case physical_type::string:
    assemble_strings(pieces, strings, out);
    break;
  case physical_type::list:
  case physical_type::map:
    assemble_lists(type, pieces, strings, out);
    break;
  case physical_type::row:
    assemble_rows(type, pieces, strings, out);
    break;
  default: {
    const auto width = static_cast<std::size_t>(type.width_bytes());
    auto values = buffer::allocate(out.size * width);
    std::byte* to = values->mutable_data();
    for (const auto& each : pieces) {
      copy_values(each, width, to);
      to += each.count * width;
    }
    out.values = std::move(values);
  }
  }
  return column::make(type, std::move(out));
}

column_ptr gather_column(const column& source, std::span<const std::uint32_t> rows,
                         string_bytes strings) {
  const column_piece piece{&source, rows.data(), 0, rows.size()};
  // An empty span may have no address, and then the piece is an empty range.
  return assemble_column(source.type(), {&piece, 1}, strings);
}

} // namespace headrace::graph
