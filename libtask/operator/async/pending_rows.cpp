#include "libtask/operator/async/pending_rows.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace headrace::task {

void pending_input::add(const graph::record_batch& in, std::int64_t behind_ms) {
  pending_rows added{std::make_shared<const graph::record_batch>(in), {}, 0, behind_ms};
  added.rows.resize(in.size());
  for (std::size_t i = 0; i < in.size(); ++i)
    added.rows[i] = in.row_at(i);
  rows_ += added.rows.size();
  waiting_.emplace_back(std::move(added));
}

std::int64_t pending_input::add_restored(const graph::restored_async_rows& restored,
                                         std::int64_t reached_ms) {
  auto last_ms = graph::watermark::none;
  const auto& behind = restored.behind_ms;
  std::vector<std::uint32_t> order(behind.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return behind[a] < behind[b]; });
  const auto in = std::make_shared<const graph::record_batch>(restored.rows);
  for (std::size_t from = 0; from < order.size();) {
    const auto behind_ms = behind[order[from]];
    auto to = from;
    while (to < order.size() && behind[order[to]] == behind_ms)
      ++to;
    if (behind_ms != graph::watermark::none && behind_ms <= reached_ms)
      add(graph::watermark{last_ms = behind_ms});
    waiting_.emplace_back(pending_rows{in,
                                       {order.begin() + static_cast<std::ptrdiff_t>(from),
                                        order.begin() + static_cast<std::ptrdiff_t>(to)},
                                       0,
                                       behind_ms});
    from = to;
  }
  rows_ += order.size();
  return last_ms;
}

pending_input::control pending_input::take_control() {
  const auto out = std::get<control>(waiting_.front());
  waiting_.pop_front();
  return out;
}

void pending_input::drop_rows(std::size_t count) {
  auto& front = std::get<pending_rows>(waiting_.front());
  front.at += count;
  rows_ -= count;
  if (front.size() == 0)
    waiting_.pop_front();
}

void pending_input::append_rows(std::vector<graph::async_row>& out) const {
  for (const auto& one : waiting_)
    if (const auto* rows = std::get_if<pending_rows>(&one))
      for (auto i = rows->at; i < rows->rows.size(); ++i)
        out.push_back({rows->in.get(), rows->rows[i], rows->behind_ms});
}

} // namespace headrace::task
