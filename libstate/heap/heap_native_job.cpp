#include "libstate/heap/heap_native_job.hpp"

#include "libstate/heap/row_codec.hpp"
#include "libstate/snapshot/block_codec.hpp"

#include <utility>

namespace headrace::state {

namespace {

bool is_live_row(const row_layout& layout, const directory_image& image, std::uint32_t row) {
  const auto& header = *reinterpret_cast<const page_header*>(image.pages[row >> layout.row_bits]);
  const auto of_page = row & ((1U << layout.row_bits) - 1U);
  return of_page < header.used && header.is_live(of_page);
}

} // namespace

/// Cuts pieces into blocks.
class heap_native_job::element_writer {
public:
  /// Writes to `out`, or into memory where there is none.
  element_writer(state_output* out, const std::atomic<bool>& is_canceled)
      : out_(out), is_canceled_(is_canceled) {}

  byte_writer begin_piece(std::uint64_t directory) {
    if (directory != directory_)
      end_section();
    directory_ = directory;
    return byte_writer(section_);
  }
  status end_piece() {
    return raw_.size() + section_.size() < snapshot_format::block_bytes ? status() : end_block();
  }
  status end_block() {
    end_section();
    if (raw_.empty())
      return {};
    if (is_canceled_.load(std::memory_order_relaxed))
      return error(errc::checkpoint_expired, "snapshot was canceled");
    encode_block(raw_, stored_);
    raw_.clear();
    checksum_ =
        checksum_of(byte_view(stored_).substr(0, snapshot_format::block_header_bytes), checksum_);
    if (out_ != nullptr)
      return out_->append(stored_);
    memory_.append(stored_);
    return {};
  }
  std::uint64_t checksum() const { return checksum_; }
  byte_view memory() const { return memory_; }

private:
  void end_section() {
    if (section_.empty())
      return;
    byte_writer to(raw_);
    to.put_varint(directory_);
    to.put_bytes(section_);
    section_.clear();
  }

  state_output* out_;
  const std::atomic<bool>& is_canceled_;
  byte_string section_; ///< of directory_
  byte_string raw_;
  byte_string stored_;
  byte_string memory_;
  std::uint64_t directory_ = 0;
  std::uint64_t checksum_ = 0;
};

namespace {

/// Bytes that the rows of a page have elsewhere.
std::uint64_t bytes_behind(const heap_native_job::part& part, std::uint32_t number) {
  const auto& layout = part.layout;
  const auto* page = part.image.pages[number];
  const auto& header = *reinterpret_cast<const page_header*>(page);
  std::uint64_t out = 0;
  for (std::uint32_t i = 0; i < header.used; ++i) {
    if (!header.is_live(i))
      continue;
    const auto* row = layout.row(page, i);
    out += layout.shape == key_shape::bytes ? row_layout::bytes_key(row).size : 0U;
    out += layout.has_blob ? layout.value(row).size : 0U;
  }
  return out;
}

void write_page(const heap_native_job::part& part, std::uint32_t number, byte_writer to) {
  const auto& layout = part.layout;
  const auto* page = part.image.pages[number];
  const auto& header = *reinterpret_cast<const page_header*>(page);
  to.put(heap_native::page_piece);
  to.put_varint(number);
  to.put_varint(header.used);
  for (std::uint32_t word = 0; word < (header.used + 63) / 64; ++word)
    to.put(header.live_bits()[word]);
  const row_codec codec(layout);
  if (codec.is_plain() && header.live == header.used) {
    to.put_raw({reinterpret_cast<const char*>(layout.row(page, 0)),
                static_cast<std::size_t>(header.used) * layout.stride});
    return;
  }
  for (std::uint32_t i = 0; i < header.used; ++i) {
    if (header.is_live(i))
      codec.write(layout.row(page, i), to);
  }
}

} // namespace

heap_native_job::heap_native_job(plan what, std::shared_ptr<heap_chain> chain,
                                 std::shared_ptr<page_pool> pool,
                                 std::shared_ptr<snapshot_hold> hold)
    : plan_(std::move(what)), chain_(std::move(chain)), pool_(std::move(pool)),
      hold_(std::move(hold)) {}

heap_native_job::~heap_native_job() {
  chain_->let_go(plan_.number);
  hold_->release();
}

heap_native heap_native_job::describe() const {
  heap_native out;
  out.header = plan_.header;
  for (const auto& one : plan_.parts) {
    const auto& pages = one.image.pages;
    const auto first_used =
        pages.empty() ? 0U : reinterpret_cast<const page_header*>(pages.front())->used;
    out.directories.push_back({one.image.id, one.state, one.of_map, one.image.space,
                               static_cast<std::uint32_t>(pages.size()), first_used,
                               one.image.null_row});
  }
  return out;
}

bool heap_native_job::is_small() const {
  std::uint64_t bytes = 0;
  for (const auto& one : plan_.parts)
    bytes += one.image.row_count * one.layout.stride;
  for (const auto& one : plan_.parts) {
    for (std::uint32_t page = 0; page < one.image.pages.size(); ++page) {
      if (bytes > plan_.inline_bytes_max)
        return false;
      bytes += bytes_behind(one, page);
    }
  }
  return bytes <= plan_.inline_bytes_max;
}

status heap_native_job::write_rows(const heap_chain::order& what, element_writer& to) const {
  for (const auto& one : plan_.parts) {
    const auto changed = what.changed.find(one.image.id);
    if (!what.is_whole && changed == what.changed.end())
      continue;
    if (what.is_whole || changed->second.is_all()) {
      for (std::uint32_t page = 0; page < one.image.pages.size(); ++page) {
        write_page(one, page, to.begin_piece(one.image.id));
        HEADRACE_CHECK(to.end_piece());
      }
      continue;
    }
    status done;
    byte_string rows;
    byte_writer to_rows(rows);
    std::uint64_t count = 0;
    const auto flush = [&] {
      if (count == 0 || !done)
        return;
      auto piece = to.begin_piece(one.image.id);
      piece.put(heap_native::rows_piece);
      piece.put_varint(count);
      piece.put_raw(rows);
      rows.clear();
      count = 0;
      done = to.end_piece();
    };
    const row_codec codec(one.layout);
    changed->second.for_each([&](std::uint32_t row) {
      if (row >> one.layout.row_bits >= one.image.pages.size())
        return; // of an older snapshot than the mark
      const bool is_live = is_live_row(one.layout, one.image, row);
      to_rows.put_varint(std::uint64_t{row} << 1U | (is_live ? 1U : 0U));
      if (is_live)
        codec.write(one.layout.row(one.image.pages[row >> one.layout.row_bits],
                                   row & ((1U << one.layout.row_bits) - 1U)),
                    to_rows);
      ++count;
      if (rows.size() >= snapshot_format::chunk_bytes)
        flush();
    });
    flush();
    HEADRACE_CHECK(std::move(done));
  }
  return to.end_block();
}

result<keyed_state_handle> heap_native_job::run(snapshot_target& target) {
  if (is_small()) {
    element_writer rows(nullptr, is_canceled_);
    HEADRACE_CHECK(write_rows({true, true, {}, 0, {}, 0}, rows));
    if (rows.memory().size() <= plan_.inline_bytes_max)
      return write_inline(target, rows.memory(), {rows.checksum(), 0});
  }
  heap_chain::directory_rows counts;
  for (const auto& one : plan_.parts)
    counts[one.image.id] = one.image.row_count;
  const auto turn = chain_->begin_turn();
  HEADRACE_CHECK(chain_->forget_removed(*plan_.files));
  return write_shared(target, chain_->plan(plan_.number, counts, plan_.checkpoint, target));
}

result<keyed_state_handle> heap_native_job::write_inline(snapshot_target& target, byte_view rows,
                                                         heap_native::element element) {
  HEADRACE_TRY(auto* const out, target.output());
  auto what = describe();
  if (!rows.empty())
    what.elements.push_back(element);
  what.inline_bytes = rows.size();
  HEADRACE_TRY(auto segment, write_heap_native(what, rows, *out));
  return keyed_state_handle{
      plan_.header.groups, std::string(heap_native::format), std::move(segment), {}};
}

result<keyed_state_handle> heap_native_job::write_shared(snapshot_target& target,
                                                         heap_chain::order order) {
  HEADRACE_TRY(auto* const out, target.output());
  auto what = describe();
  keyed_state_handle handle{plan_.header.groups, std::string(heap_native::format), {}, {}};
  for (const auto& one : order.behind) {
    target.use_shared(one.stored.file.segment.path, {});
    handle.shared.push_back(one.stored.file);
    what.elements.push_back({one.stored.checksum, one.rows});
  }
  const auto name = "rows-" + std::to_string(plan_.checkpoint);
  HEADRACE_TRY(const auto file, target.create_shared(plan_.owner + "-" + name, {}));
  element_writer rows(file.get(), is_canceled_);
  HEADRACE_CHECK(write_rows(order, rows));
  const auto bytes = file->position();
  HEADRACE_CHECK(file->finish());
  shared_files::stored made{{name, {file->path(), 0, bytes}}, rows.checksum()};
  handle.shared.push_back(made.file);
  what.elements.push_back({made.checksum, order.rows});
  if (target.shares(file->path())) // else the target keeps it to itself
    HEADRACE_CHECK(chain_->written(plan_.number, plan_.checkpoint, std::move(order),
                                   std::move(made), *plan_.files));
  HEADRACE_TRY(handle.segment, write_heap_native(what, {}, *out));
  return handle;
}

} // namespace headrace::state
