#include "libtask/operator/join/lookup_table.hpp"

#include "libgraph/data/batch_builder.hpp"
#include "libgraph/data/hash.hpp"

#include <algorithm>
#include <bit>
#include <deque>
#include <functional>
#include <utility>

namespace headrace::task {
namespace {

/// A single reader that is its own coordinator: splits are discovered where they are read.
class local_enumeration final : public graph::enumerator_context {
public:
  explicit local_enumeration(const graph::reader_context& reader) : reader_(reader) {}

  std::int32_t reader_count() const override { return 1; }
  std::vector<std::int32_t> registered_readers() const override { return {0}; }
  void assign(std::int32_t /*reader*/, std::vector<graph::source_split> splits) override {
    for (auto& each : splits)
      assigned_.push_back(std::move(each));
  }
  void no_more_splits(std::int32_t /*reader*/) override { is_complete_ = true; }
  void call_async(std::function<result<std::vector<graph::source_split>>()> discover,
                  std::function<status(result<std::vector<graph::source_split>>)> handle,
                  std::chrono::milliseconds /*period*/) override {
    calls_.push_back([discover = std::move(discover), handle = std::move(handle)] {
      return handle(discover());
    });
  }
  headrace::file_system& files() override { return reader_.files; }
  const headrace::clock& time() const override { return reader_.time; }
  const headrace::logger& log() const override { return reader_.log; }

  status run_calls() {
    while (!calls_.empty()) {
      const auto call = std::move(calls_.front());
      calls_.pop_front();
      HEADRACE_CHECK(call());
    }
    return {};
  }
  bool is_complete() const { return is_complete_; }
  std::vector<graph::source_split> take_assigned() { return std::exchange(assigned_, {}); }

private:
  const graph::reader_context& reader_;
  std::vector<graph::source_split> assigned_;
  std::deque<std::function<status()>> calls_;
  bool is_complete_ = false;
};

/// Everything, piece by piece.
status read_all(const graph::source& from, const graph::reader_context& context,
                const std::function<void(const graph::record_batch&)>& take) {
  local_enumeration local(context);
  HEADRACE_TRY(const auto enumerator, from.create_enumerator(local, std::nullopt));
  HEADRACE_TRY(const auto reader, from.create_reader(context));
  HEADRACE_CHECK(enumerator->start());
  HEADRACE_CHECK(local.run_calls());
  HEADRACE_CHECK(enumerator->add_reader(0));
  HEADRACE_CHECK(local.run_calls());
  while (true) {
    for (auto& split : local.take_assigned())
      HEADRACE_CHECK(reader->add_split(std::move(split)));
    HEADRACE_TRY(const auto piece, reader->fetch({}));
    if (piece && !piece->rows.is_empty())
      take(piece->rows);
    if (piece)
      continue;
    if (local.is_complete())
      break;
    HEADRACE_CHECK(enumerator->handle_split_request(0));
    HEADRACE_CHECK(local.run_calls());
  }
  reader->close();
  enumerator->close();
  return {};
}

} // namespace

result<std::shared_ptr<const lookup_table>>
lookup_table::read(const graph::source& from, const graph::reader_context& context,
                   std::span<const std::int32_t> fields,
                   std::span<const std::int32_t> key_columns) {
  if (from.bounds() != graph::boundedness::bounded)
    return error(errc::invalid_graph, "a lookup join reads a table that ends");
  std::vector<graph::logical_type::field> kept;
  for (const auto each : fields)
    kept.push_back(from.row_type()->fields()[static_cast<std::size_t>(each)]);
  graph::batch_builder all(std::make_shared<const graph::logical_type>(
      graph::logical_type::row(std::move(kept)).not_null()));
  std::vector<std::uint32_t> rows;
  HEADRACE_CHECK(read_all(from, context, [&](const graph::record_batch& piece) {
    rows.resize(piece.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
      rows[i] = piece.row_at(i);
    for (std::size_t i = 0; i < fields.size(); ++i)
      all.column(i).append_from(piece.at(static_cast<std::size_t>(fields[i])), rows);
    all.end_rows(rows.size());
  }));
  auto made = std::make_shared<lookup_table>();
  made->rows_ = all.finish();
  made->index(key_columns);
  return std::shared_ptr<const lookup_table>(std::move(made));
}

void lookup_table::hash(const graph::record_batch& rows, std::span<const std::int32_t> key_columns,
                        std::vector<std::uint64_t>& out) {
  out.resize(rows.size());
  const std::vector<int> indices(key_columns.begin(), key_columns.end());
  graph::hash_columns(rows, indices, out);
}

void lookup_table::index(std::span<const std::int32_t> key_columns) {
  const auto count = rows_.size();
  hash(rows_, key_columns, hashes_);
  heads_.assign(std::bit_ceil(std::max<std::size_t>(count * 2, 16)), none);
  next_.assign(count, none);
  // From the last to the first, so that rows of a key are found in their order.
  for (auto row = static_cast<std::uint32_t>(count); row-- > 0;) {
    auto& head = heads_[hashes_[row] & (heads_.size() - 1)];
    next_[row] = head;
    head = row;
  }
}

} // namespace headrace::task
