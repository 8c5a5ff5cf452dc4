#include "libstate/backend/wide_table.hpp"

#include "libactors/base/assert.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>

namespace headrace::state {
namespace {

/// What stands of a `locate` until its `write_back`: each row once.
struct wide_rows {
  const key_batch* keys = nullptr;
  std::vector<std::uint32_t> rows;     ///< of the keys, one a slot
  std::vector<state_namespace> spaces; ///< likewise
  std::vector<std::uint8_t> erased;    ///< likewise
  std::vector<std::byte> bytes;        ///< slot by slot
};

class wide_table final : public keyed_table {
public:
  wide_table(state_description whole, std::vector<keyed_table*> parts)
      : whole_(std::move(whole)), parts_(std::move(parts)), stride_(whole_.layout.fixed_bytes) {}

  const state_description& description() const override { return whole_; }

  status locate(const key_batch& keys, std::span<const std::uint32_t> rows,
                std::span<const state_namespace> namespaces, access mode,
                located_rows& out) override {
    const auto staged = std::make_shared<wide_rows>();
    staged->keys = &keys;
    HEADRACE_CHECK(parts_[0]->locate(keys, rows, namespaces, mode, part_));
    slots_.clear();
    out.fresh.assign(rows.size(), 0);
    if (mode == access::insert)
      std::copy_n(part_.fresh.begin(), rows.size(), out.fresh.begin());
    out.tokens.assign(rows.size(), located_rows::absent);
    first_.clear();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (part_.is_absent(i))
        continue;
      const auto [slot, is_new] = slots_.try_emplace(part_.tokens[i], first_.size());
      out.tokens[i] = slot->second;
      if (!is_new)
        continue;
      first_.push_back(i);
      staged->rows.push_back(rows[i]);
      staged->spaces.push_back(namespaces[i]);
    }
    staged->erased.assign(first_.size(), 0);
    staged->bytes.assign(first_.size() * stride_, std::byte{0});
    for (std::size_t slot = 0; slot < first_.size(); ++slot)
      take(0, part_.values[first_[slot]], staged->bytes.data() + slot * stride_);
    if (mode != access::read)
      HEADRACE_CHECK(parts_[0]->write_back(part_));
    HEADRACE_CHECK(read_others(*staged->keys, staged->rows, staged->spaces, staged->bytes));
    out.values.assign(rows.size(), nullptr);
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (!out.is_absent(i))
        out.values[i] = staged->bytes.data() + out.tokens[i] * stride_;
    out.staged = staged;
    return {};
  }
  status locate(const key_batch& keys, std::span<const std::uint32_t> rows, state_namespace space,
                access mode, located_rows& out) override {
    spaces_.assign(rows.size(), space);
    return locate(keys, rows, spaces_, mode, out);
  }

  std::optional<byte_view> get(const located_rows& /*at*/, std::size_t /*index*/) override {
    HEADRACE_ASSERT(false, "a table of a fixed layout is read by pointers");
    return std::nullopt;
  }
  status put(located_rows& /*at*/, std::size_t /*index*/, byte_view /*value*/) override {
    HEADRACE_ASSERT(false, "a table of a fixed layout is written by pointers");
    return {};
  }
  status append(located_rows& at, std::size_t index, byte_view more) override {
    return put(at, index, more);
  }

  status write_back(located_rows& at) override {
    const auto& staged = *static_cast<wide_rows*>(at.staged.get());
    choose(staged, [&](std::size_t slot) { return staged.erased[slot] == 0; });
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      HEADRACE_CHECK(parts_[part]->locate(*staged.keys, rows_, spaces_, access::insert, part_));
      for (std::size_t i = 0; i < chosen_.size(); ++i)
        std::memcpy(part_.values[i], staged.bytes.data() + chosen_[i] * stride_ + begin_of(part),
                    width_of(part));
      HEADRACE_CHECK(parts_[part]->write_back(part_));
    }
    return {};
  }

  status erase(located_rows& at, std::span<const std::uint32_t> indices) override {
    auto& staged = *static_cast<wide_rows*>(at.staged.get());
    std::vector<std::uint8_t> wanted(staged.rows.size(), 0);
    for (const auto index : indices)
      if (!at.is_absent(index) && staged.erased[at.tokens[index]] == 0)
        wanted[at.tokens[index]] = 1;
    choose(staged, [&](std::size_t slot) { return wanted[slot] != 0; });
    if (chosen_.empty())
      return {};
    std::vector<std::uint32_t> all(chosen_.size());
    std::iota(all.begin(), all.end(), 0U);
    for (auto* part : parts_) {
      HEADRACE_CHECK(part->locate(*staged.keys, rows_, spaces_, access::update, part_));
      HEADRACE_CHECK(part->erase(part_, all));
      HEADRACE_CHECK(part->write_back(part_));
    }
    for (const auto slot : chosen_)
      staged.erased[slot] = 1;
    return {};
  }

  status scan(state_namespace space, scan_cursor& cursor, std::size_t rows_max,
              scanned_rows& out) override {
    HEADRACE_CHECK(parts_[0]->scan(space, cursor, rows_max, out));
    const auto count = out.size();
    scanned_.assign(count * stride_, std::byte{0});
    for (std::size_t i = 0; i < count; ++i) {
      take(0, out.fixed[i], scanned_.data() + i * stride_);
      out.fixed[i] = scanned_.data() + i * stride_;
    }
    rows_.resize(count);
    std::iota(rows_.begin(), rows_.end(), 0U);
    spaces_.assign(count, space);
    return read_others(out.keys, rows_, spaces_, scanned_);
  }
  status drop_namespace(state_namespace space) override {
    for (auto* part : parts_)
      HEADRACE_CHECK(part->drop_namespace(space));
    return {};
  }
  std::vector<state_namespace> namespaces() const override { return parts_[0]->namespaces(); }
  std::optional<state_namespace> first_namespace() const override {
    return parts_[0]->first_namespace();
  }
  std::uint64_t row_count(state_namespace space) const override {
    return parts_[0]->row_count(space);
  }
  std::uint64_t row_count() const override { return parts_[0]->row_count(); }
  std::uint64_t size_bytes() const override {
    std::uint64_t out = 0;
    for (const auto* part : parts_)
      out += part->size_bytes();
    return out;
  }
  scanned_rows make_piece() const override { return parts_[0]->make_piece(); }

private:
  static std::size_t begin_of(std::size_t part) { return part * value_layout::fixed_bytes_max; }
  std::size_t width_of(std::size_t part) const {
    return std::min(value_layout::fixed_bytes_max, stride_ - begin_of(part));
  }
  void take(std::size_t part, const std::byte* from, std::byte* row) const {
    std::memcpy(row + begin_of(part), from, width_of(part));
  }

  /// The parts behind the first; of rows that they have not yet zeros stay.
  status read_others(const key_batch& keys, std::span<const std::uint32_t> rows,
                     std::span<const state_namespace> spaces, std::vector<std::byte>& into) {
    for (std::size_t part = 1; part < parts_.size(); ++part) {
      HEADRACE_CHECK(parts_[part]->locate(keys, rows, spaces, access::read, part_));
      for (std::size_t i = 0; i < rows.size(); ++i)
        if (!part_.is_absent(i))
          take(part, part_.values[i], into.data() + i * stride_);
    }
    return {};
  }

  /// Takes the rows of some slots into `chosen_`, `rows_` and `spaces_`.
  template <class Wanted>
  void choose(const wide_rows& staged, const Wanted& wanted) {
    chosen_.clear();
    rows_.clear();
    spaces_.clear();
    for (std::size_t slot = 0; slot < staged.rows.size(); ++slot) {
      if (!wanted(slot))
        continue;
      chosen_.push_back(slot);
      rows_.push_back(staged.rows[slot]);
      spaces_.push_back(staged.spaces[slot]);
    }
  }

  state_description whole_;
  std::vector<keyed_table*> parts_;
  std::size_t stride_;
  // Kept from batch to batch.
  located_rows part_;
  std::unordered_map<std::uint64_t, std::size_t> slots_; ///< by token of the first part
  std::vector<std::size_t> first_;                       ///< by slot: where it came first
  std::vector<std::size_t> chosen_;
  std::vector<std::uint32_t> rows_;
  std::vector<state_namespace> spaces_;
  std::vector<std::byte> scanned_;
};

} // namespace

result<keyed_table*> open_wide_table(keyed_backend& backend, const state_description& wanted,
                                     std::unique_ptr<keyed_table>& keeper) {
  constexpr auto part_bytes = value_layout::fixed_bytes_max;
  HEADRACE_ASSERT(wanted.layout.fixed_bytes <= wide_bytes_max,
                  "wide values have their bounds, too");
  if (wanted.layout.fixed_bytes <= part_bytes)
    return backend.open_table(wanted);
  std::vector<keyed_table*> parts;
  for (std::size_t begin = 0; begin < wanted.layout.fixed_bytes; begin += part_bytes) {
    auto part = wanted;
    part.layout = value_layout::fixed(std::min(part_bytes, wanted.layout.fixed_bytes - begin));
    if (!parts.empty())
      part.name += "-" + std::to_string(parts.size() + 1);
    HEADRACE_TRY(auto* opened, backend.open_table(part));
    parts.push_back(opened);
  }
  keeper = std::make_unique<wide_table>(wanted, std::move(parts));
  return keeper.get();
}

} // namespace headrace::state
