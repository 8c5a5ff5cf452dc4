#include "libgraph/api/range_source.hpp"

#include "libgraph/connector/fixed_enumerator.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace headrace::api {
namespace {

/// Rows appended between two looks at the size of the batch.
constexpr std::size_t rows_a_step = 256;
constexpr double wait_ms_max = 3'600'000;

/// Indices of a range that are left.
std::uint64_t left_of(const index_range& range) {
  return range.next >= range.end ? 0 : (range.end - range.next - 1) / range.stride + 1;
}

} // namespace

byte_string index_range::encode() const {
  byte_string bytes;
  byte_writer out(bytes);
  out.put(next);
  out.put(stride);
  out.put(end);
  return bytes;
}

result<index_range> index_range::decode(byte_view bytes) {
  byte_reader in(bytes);
  index_range range;
  HEADRACE_TRY(range.next, in.get<std::uint64_t>());
  HEADRACE_TRY(range.stride, in.get<std::uint64_t>());
  HEADRACE_TRY(range.end, in.get<std::uint64_t>());
  if (range.stride == 0)
    return error(errc::malformed_message, "an index range without stride");
  return range;
}

result<std::unique_ptr<graph::split_enumerator>>
make_range_enumerator(std::uint64_t count, graph::enumerator_context& context,
                      const std::optional<byte_string>& restored) {
  const auto readers = static_cast<std::uint64_t>(context.reader_count());
  std::vector<graph::source_split> splits;
  for (std::uint64_t i = 0; i < readers && i < count; ++i)
    splits.push_back({"range-" + std::to_string(i), index_range{i, readers, count}.encode()});
  return graph::fixed_enumerator::create(context, std::move(splits), restored);
}

range_reader::range_reader(graph::row_type_ptr type, std::unique_ptr<range_filler> filler,
                           double rows_per_second, const headrace::clock& time)
    : filler_(std::move(filler)), builder_(std::move(type)), rows_per_second_(rows_per_second),
      time_(time) {}

status range_reader::add_split(graph::source_split split) {
  HEADRACE_TRY(auto range, index_range::decode(split.state));
  ranges_.push_back({std::move(split.id), range});
  return {};
}

std::uint64_t range_reader::rows_allowed() {
  if (rows_per_second_ <= 0)
    return unlimited;
  const auto now = time_.now_us();
  if (!started_us_)
    started_us_ = now;
  const auto due = static_cast<double>(now - *started_us_) * 1e-6 * rows_per_second_ + 1.0;
  return static_cast<std::uint64_t>(std::max(0.0, due - static_cast<double>(emitted_)));
}

/// Until the next row is due; a reader of a slow source sleeps as long as it may.
std::chrono::milliseconds range_reader::wait_for_row() const {
  const auto due_us = static_cast<double>(emitted_) / rows_per_second_ * 1e6;
  const auto waited_us = static_cast<double>(time_.now_us() - *started_us_);
  return std::chrono::milliseconds(static_cast<std::int64_t>(
      std::clamp(std::ceil((due_us - waited_us) / 1000), 1.0, wait_ms_max)));
}

result<std::optional<graph::fetched>> range_reader::fetch(const graph::fetch_budget& budget) {
  if (ranges_.empty())
    return std::optional<graph::fetched>();
  auto& [id, range] = ranges_.front();
  graph::fetched out;
  out.split_id = id;
  const auto allowed = rows_allowed();
  auto wanted = std::min({left_of(range), allowed, static_cast<std::uint64_t>(budget.rows_max)});
  if (allowed == 0)
    out.wait = wait_for_row();
  while (wanted > 0 && builder_.size_bytes() < budget.bytes_max) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(wanted, rows_a_step));
    filler_->fill(range.next, range.stride, count, builder_);
    const auto step = range.stride * count;
    range.next = step > range.end - range.next ? range.end : range.next + step;
    emitted_ += count;
    wanted -= count;
  }
  out.rows = builder_.finish();
  out.state_after = range.encode();
  out.split_finished = left_of(range) == 0;
  if (out.split_finished)
    ranges_.pop_front();
  return std::optional<graph::fetched>(std::move(out));
}

} // namespace headrace::api
