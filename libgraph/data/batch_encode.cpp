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

/// Runs that are shorter are cheaper to copy than to name.
constexpr std::size_t shared_run_bytes_least = std::size_t{4} << 10U;

std::size_t shared_bytes_of(std::size_t run) { return run < shared_run_bytes_least ? 0 : run; }

/// Writes sections one after the other.
class section_writer {
public:
  explicit section_writer(std::byte* begin) : begin_(begin), at_(begin) {}

  std::size_t size_bytes() const { return static_cast<std::size_t>(at_ - begin_); }
  /// @returns where it was put
  std::byte* put(const void* from, std::size_t size) {
    auto* to = at_;
    if (size > 0)
      std::memcpy(to, from, size);
    at_ += size;
    return to;
  }
  /// Puts what lies in a buffer of the batch.
  void put_run(const void* from, std::size_t size) { put(from, size); }
  void put_zeros(std::size_t size) {
    std::memset(at_, 0, size);
    at_ += size;
  }

private:
  std::byte* begin_;
  std::byte* at_;
};

/// Names the long runs, and copies what is between them.
class piece_writer {
public:
  /// @param copied  takes all that is copied
  piece_writer(std::shared_ptr<const void> batch, std::shared_ptr<buffer> copied)
      : batch_(std::move(batch)), copied_(std::move(copied)) {}

  std::size_t size_bytes() const { return size_bytes_; }
  std::byte* put(const void* from, std::size_t size) {
    auto* to = extend(size);
    if (size > 0)
      std::memcpy(to, from, size);
    return to;
  }
  void put_run(const void* from, std::size_t size) {
    if (shared_bytes_of(size) == 0) {
      put(from, size);
      return;
    }
    end_copied();
    out_.push_back({{static_cast<const char*>(from), size}, batch_});
    size_bytes_ += size;
  }
  void put_zeros(std::size_t size) { std::memset(extend(size), 0, size); }
  std::vector<shared_bytes> finish() {
    end_copied();
    HEADRACE_ASSERT(at_ == copied_->size_bytes(), "as many bytes copied as planned");
    return std::move(out_);
  }

private:
  std::byte* extend(std::size_t size) {
    HEADRACE_ASSERT(size <= copied_->size_bytes() - at_, "no more bytes copied than planned");
    auto* to = copied_->mutable_data() + at_;
    at_ += size;
    size_bytes_ += size;
    return to;
  }
  void end_copied() {
    if (at_ > begin_)
      out_.push_back({{copied_->as<char>() + begin_, at_ - begin_}, copied_});
    begin_ = at_;
  }

  std::shared_ptr<const void> batch_;
  std::shared_ptr<buffer> copied_;
  std::vector<shared_bytes> out_;
  std::size_t begin_ = 0; ///< of what is copied and not in `out_` yet
  std::size_t at_ = 0;
  std::size_t size_bytes_ = 0;
};

/// Fills up with zeros to a multiple of 64.
template <class Writer>
void end_section(Writer& out) {
  out.put_zeros(align(out.size_bytes()) - out.size_bytes());
}

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

/// Gives the bytes of long strings: neighbours that lie one behind the other in one run.
///
/// @param run     called with (bytes, size)
/// @param finish  called with the bytes of each data section when it is complete
template <class Run, class Finish>
void walk_strings(const column& strings, Run run, Finish finish) {
  const char* begin = nullptr;
  std::size_t size = 0;
  const auto end_run = [&] {
    if (size > 0)
      run(begin, size);
    size = 0;
  };
  place_strings(
      strings,
      [&](std::size_t row, std::uint32_t, std::uint32_t) {
        const auto value = strings.string_at(row);
        if (size == 0 || begin + size != value.data()) {
          end_run();
          begin = value.data();
        }
        size += value.size();
      },
      [&](std::size_t bytes) {
        end_run();
        finish(bytes);
      });
}

/// Says whether the long strings of a column already lie in one data section as it is written: then
/// neither they nor their slots are touched.
batch_encoding::string_plan plan_strings(const column& strings) {
  const auto* slots = strings.slots();
  std::size_t bytes = 0;
  std::uint64_t faults = 0;
  for (std::size_t row = 0; row < strings.size(); ++row) {
    const auto& slot = slots[row];
    const bool is_long = !slot.is_inline();
    const std::uint64_t moved = slot.place.offset ^ bytes;
    faults |= is_long ? moved | slot.place.buffer_index : 0;
    bytes += is_long ? slot.size : 0;
  }
  if (faults != 0 || bytes > data_bytes_max)
    return {};
  return {.is_in_place = true,
          .data = bytes > 0 ? strings.content().data[0]->as<char>() : nullptr,
          .bytes = bytes};
}

template <class Writer>
void put_validity(const column& values, Writer& out) {
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
  end_section(out);
}

/// @param plan  of the next column of strings; moved behind those that were put
template <class Writer>
void put_column(const column& values, const batch_encoding::string_plan*& plan, Writer& out) {
  if (values.has_nulls())
    put_validity(values, out);
  const auto size = values_bytes(values.type(), values.size());
  if (values.type().physical() == physical_type::string) {
    if (plan->is_in_place) {
      out.put_run(values.slots(), size);
      end_section(out);
      out.put_run(plan->data, plan->bytes);
      end_section(out);
    } else {
      move_slots(values, out.put(values.slots(), size));
      end_section(out);
      walk_strings(
          values, [&](const char* run, std::size_t bytes) { out.put_run(run, bytes); },
          [&](std::size_t) { end_section(out); });
    }
    ++plan;
  } else if (size > 0) {
    out.put_run(values.values<std::byte>(), size);
    end_section(out);
  }
  for (const auto& each : values.content().children)
    put_column(*each, plan, out);
}

struct described {
  std::size_t bytes = 0;  ///< of the sections
  std::size_t shared = 0; ///< of these, in runs that need no copy
  std::vector<batch_encoding::string_plan> strings;
};

/// Describes a column in the header.
void describe_column(const column& values, byte_writer& header, described& out) {
  header.put_varint(values.size());
  header.put(static_cast<std::uint8_t>(values.has_nulls() ? 1 : 0));
  const auto size = values_bytes(values.type(), values.size());
  out.bytes += values.has_nulls() ? align((values.size() + 7) / 8) : 0;
  out.bytes += align(size);
  if (values.type().physical() == physical_type::string) {
    std::vector<std::size_t> sections;
    const auto plan = plan_strings(values);
    out.strings.push_back(plan);
    if (plan.is_in_place) {
      out.shared += shared_bytes_of(size) + shared_bytes_of(plan.bytes);
      if (plan.bytes > 0)
        sections.push_back(plan.bytes);
    } else {
      walk_strings(
          values, [&](const char*, std::size_t run) { out.shared += shared_bytes_of(run); },
          [&](std::size_t bytes) { sections.push_back(bytes); });
    }
    header.put_varint(sections.size());
    for (const auto bytes : sections) {
      header.put_varint(bytes);
      out.bytes += align(bytes);
    }
  } else {
    out.shared += shared_bytes_of(size);
  }
  for (const auto& each : values.content().children)
    describe_column(*each, header, out);
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
  described body;
  if (batch_.timestamps() != nullptr) {
    body.bytes += align(batch_.size() * sizeof(std::int64_t));
    body.shared += shared_bytes_of(batch_.size() * sizeof(std::int64_t));
  }
  if (batch_.kinds() != nullptr) {
    body.bytes += align(batch_.size());
    body.shared += shared_bytes_of(batch_.size());
  }
  for (const auto& each : batch_.columns())
    describe_column(*each, out, body);
  byte_writer header(header_);
  header.put(batch_layout::magic);
  header.put(static_cast<std::uint32_t>(description.size()));
  header.put_raw(description);
  size_bytes_ = align(header_.size()) + body.bytes + batch_layout::padding_bytes;
  shared_bytes_ = body.shared;
  strings_ = std::move(body.strings);
}

template <class Writer>
void batch_encoding::put(Writer& out) const {
  out.put(header_.data(), header_.size());
  end_section(out);
  if (batch_.timestamps() != nullptr) {
    out.put_run(batch_.timestamps(), batch_.size() * sizeof(std::int64_t));
    end_section(out);
  }
  if (batch_.kinds() != nullptr) {
    out.put_run(batch_.kinds(), batch_.size());
    end_section(out);
  }
  const auto* plan = strings_.data();
  for (const auto& each : batch_.columns())
    put_column(*each, plan, out);
  out.put_zeros(batch_layout::padding_bytes);
  HEADRACE_ASSERT(out.size_bytes() == size_bytes_, "a batch of another size than planned");
}

void batch_encoding::write_to(std::byte* to) const {
  section_writer out(to);
  put(out);
}

std::vector<shared_bytes> batch_encoding::pieces(std::shared_ptr<memory_budget> budget) const {
  piece_writer out(std::make_shared<const record_batch>(batch_),
                   buffer::allocate(size_bytes_ - shared_bytes_, std::move(budget)));
  put(out);
  return out.finish();
}

byte_string encode_batch(const record_batch& batch) {
  const batch_encoding encoding(batch);
  byte_string out(encoding.size_bytes(), '\0');
  encoding.write_to(reinterpret_cast<std::byte*>(out.data()));
  return out;
}

} // namespace headrace::graph
