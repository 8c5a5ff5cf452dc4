#include "libgraph/data/batch_codec.hpp"
#include "libgraph/data/batch_layout.hpp"
#include "libgraph/data/gather.hpp"
#include "libactors/base/assert.hpp"

#include <limits>

namespace headrace::graph {

namespace {

using batch_layout::align;
using batch_layout::values_bytes;

constexpr std::size_t data_bytes_max = std::numeric_limits<std::uint32_t>::max();

/// Writes sections one after the other.
class section_writer {
public:
  explicit section_writer(std::byte* begin) : begin_(begin), at_(begin) {}

  std::byte* here() const { return at_; }
  std::size_t size_bytes() const { return static_cast<std::size_t>(at_ - begin_); }
  void put(const void* from, std::size_t size) {
    if (size > 0)
      std::memcpy(at_, from, size);
    at_ += size;
  }
  void put_zeros(std::size_t size) {
    std::memset(at_, 0, size);
    at_ += size;
  }
  /// Fills up with zeros to a multiple of 64.
  void end_section() { put_zeros(align(size_bytes()) - size_bytes()); }

private:
  std::byte* begin_;
  std::byte* at_;
};

/// Walks the long strings of a column in order, and says where each goes.
///
/// @param place   called with (row, section, offset) for each long string
/// @param finish  called with the bytes of each data section when it is complete
template <class Place, class Finish>
void place_strings(const column& strings, Place place, Finish finish) {
  const auto* slots = strings.slots();
  std::uint32_t section = 0;
  std::size_t offset = 0;
  for (std::size_t row = 0; row < strings.size(); ++row) {
    if (slots[row].is_inline())
      continue;
    if (slots[row].size > data_bytes_max - offset) {
      finish(offset);
      ++section;
      offset = 0;
    }
    place(row, section, static_cast<std::uint32_t>(offset));
    offset += slots[row].size;
  }
  if (offset > 0)
    finish(offset);
}

/// Points the slots that were written at their new places.
void move_slots(const column& strings, std::byte* slots) {
  place_strings(
      strings,
      [&](std::size_t row, std::uint32_t section, std::uint32_t offset) {
        auto* at = slots + row * sizeof(string_slot) + offsetof(string_slot, place);
        std::memcpy(at, &section, sizeof(section));
        std::memcpy(at + sizeof(section), &offset, sizeof(offset));
      },
      [](std::size_t) {});
}

/// Copies the bytes of long strings. Neighbours that lie one behind the other go in one copy.
void put_string_data(const column& strings, section_writer& out) {
  const char* run = nullptr;
  std::size_t run_bytes = 0;
  const auto flush = [&] {
    out.put(run, run_bytes);
    run_bytes = 0;
  };
  place_strings(
      strings,
      [&](std::size_t row, std::uint32_t, std::uint32_t) {
        const auto value = strings.string_at(row);
        if (run_bytes == 0 || run + run_bytes != value.data()) {
          flush();
          run = value.data();
        }
        run_bytes += value.size();
      },
      [&](std::size_t) {
        flush();
        out.end_section();
      });
}

void put_validity(const column& values, section_writer& out) {
  const auto bytes = (values.size() + 7) / 8;
  if (values.size() % 8 == 0) {
    out.put(values.validity(), bytes);
  } else {
    // Bits behind the end are zero, so that equal rows are equal bytes.
    out.put(values.validity(), bytes - 1);
    const auto last =
        static_cast<std::uint8_t>(values.validity()[bytes - 1] & ((1U << (values.size() % 8)) - 1));
    out.put(&last, 1);
  }
  out.end_section();
}

void put_column(const column& values, section_writer& out) {
  const auto physical = values.type().physical();
  if (values.has_nulls())
    put_validity(values, out);
  const auto size = values_bytes(values.type(), values.size());
  if (physical == physical_type::string) {
    auto* slots = out.here();
    out.put(values.slots(), size);
    move_slots(values, slots);
    out.end_section();
    put_string_data(values, out);
  } else if (size > 0) {
    out.put(values.values<std::byte>(), size);
    out.end_section();
  }
  for (const auto& each : values.content().children)
    put_column(*each, out);
}

/// Describes a column in the header. @returns the bytes of its sections
std::size_t describe_column(const column& values, byte_writer& header) {
  header.put_varint(values.size());
  header.put(static_cast<std::uint8_t>(values.has_nulls() ? 1 : 0));
  std::size_t out = values.has_nulls() ? align((values.size() + 7) / 8) : 0;
  out += align(values_bytes(values.type(), values.size()));
  if (values.type().physical() == physical_type::string) {
    std::vector<std::size_t> sections;
    place_strings(
        values, [](std::size_t, std::uint32_t, std::uint32_t) {},
        [&](std::size_t bytes) { sections.push_back(bytes); });
    header.put_varint(sections.size());
    for (const auto bytes : sections) {
      header.put_varint(bytes);
      out += align(bytes);
    }
  }
  for (const auto& each : values.content().children)
    out += describe_column(*each, header);
  return out;
}

} // namespace

batch_encoding::batch_encoding(const record_batch& batch)
    : batch_(batch.has_selection() ? assemble_batch({&batch, 1}, string_bytes::share) : batch) {
  HEADRACE_ASSERT(batch_.size() <= batch_rows_max, "a batch of too many rows");
  byte_string description;
  byte_writer out(description);
  out.put_varint(batch_.size());
  out.put(static_cast<std::uint8_t>(
      (batch_.timestamps() != nullptr ? batch_layout::has_timestamps : 0U) |
      (batch_.kinds() != nullptr ? batch_layout::has_kinds : 0U)));
  std::size_t body = 0;
  if (batch_.timestamps() != nullptr)
    body += align(batch_.size() * sizeof(std::int64_t));
  if (batch_.kinds() != nullptr)
    body += align(batch_.size());
  for (const auto& each : batch_.columns())
    body += describe_column(*each, out);
  byte_writer header(header_);
  header.put(batch_layout::magic);
  header.put(static_cast<std::uint32_t>(description.size()));
  header.put_raw(description);
  size_bytes_ = align(header_.size()) + body + batch_layout::padding_bytes;
}

void batch_encoding::write_to(std::byte* to) const {
  section_writer out(to);
  out.put(header_.data(), header_.size());
  out.end_section();
  if (batch_.timestamps() != nullptr) {
    out.put(batch_.timestamps(), batch_.size() * sizeof(std::int64_t));
    out.end_section();
  }
  if (batch_.kinds() != nullptr) {
    out.put(batch_.kinds(), batch_.size());
    out.end_section();
  }
  for (const auto& each : batch_.columns())
    put_column(*each, out);
  out.put_zeros(batch_layout::padding_bytes);
  HEADRACE_ASSERT(out.size_bytes() == size_bytes_, "a batch of another size than planned");
}

byte_string encode_batch(const record_batch& batch) {
  const batch_encoding encoding(batch);
  byte_string out(encoding.size_bytes(), '\0');
  encoding.write_to(reinterpret_cast<std::byte*>(out.data()));
  return out;
}

} // namespace headrace::graph
