#include "libtask/operator/rank/ordered_rows.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace headrace::task {
namespace {

constexpr auto any_count = std::numeric_limits<std::size_t>::max();

graph::state_descriptor described(std::string name, graph::state_kind kind, std::int64_t ttl_ms) {
  graph::state_descriptor out;
  out.name = std::move(name);
  out.kind = kind;
  out.value_type = graph::logical_type::bytes();
  out.key_type =
      kind == graph::state_kind::map ? graph::logical_type::bytes() : graph::logical_type::null();
  out.ttl_ms = ttl_ms;
  return out;
}

byte_view bytes_of(const std::uint32_t& number) {
  return {reinterpret_cast<const char*>(&number), sizeof(number)};
}

std::uint32_t number_of(byte_view bytes) {
  std::uint32_t out = 0;
  std::memcpy(&out, bytes.data(), std::min(sizeof(out), bytes.size()));
  return out;
}

/// The last piece that begins at or before what is looked for.
std::size_t last_before(std::size_t bound) { return bound == 0 ? 0 : bound - 1; }

} // namespace

ordered_rows::ordered_rows(graph::state_provider& states, const std::string& name,
                           std::int64_t ttl_ms)
    : directory_(&states.value(described(name + "-directory", graph::state_kind::value, ttl_ms))),
      pieces_(&states.map(described(name + "-pieces", graph::state_kind::map, ttl_ms))),
      expires_(ttl_ms > 0) {}

void ordered_rows::list_pieces(const row_list& directory, std::size_t from, std::size_t to) {
  numbers_.clear();
  for (auto i = from; i < to; ++i)
    numbers_.push_back(number_of(directory.row(i)));
}

void ordered_rows::put_piece(std::uint32_t number, byte_view piece) {
  pieces_->put(bytes_of(number), piece);
}

void ordered_rows::touch_directory() {
  if (!expires_)
    return;
  const auto directory = directory_->get();
  if (!directory)
    return;
  half_.assign(*directory);
  directory_->put(half_);
}

void ordered_rows::insert(byte_view key, byte_view row, bool before_equals) {
  const row_list directory(directory_->get().value_or(byte_view()));
  if (directory.is_empty()) {
    const std::uint32_t number = 0;
    row_list().insert(0, key, row, any_count, 0, changed_);
    put_piece(number, changed_);
    // The stamp of the directory is the next piece's number.
    row_list().insert(0, {}, bytes_of(number), any_count, 1, changed_);
    directory_->put(changed_);
    return;
  }
  const auto place =
      last_before(before_equals ? directory.lower_bound(key) : directory.upper_bound(key));
  const auto number = number_of(directory.row(place));
  const row_list piece(pieces_->get(bytes_of(number)).value_or(byte_view()));
  const auto at = before_equals ? piece.lower_bound(key) : piece.upper_bound(key);
  piece.insert(at, key, row, any_count, 0, changed_);
  const row_list grown(changed_);
  if (grown.size_bytes() > piece_bytes_max && grown.size() > 1)
    split(place, number, grown);
  else
    put_piece(number, changed_);
  touch_directory();
}

void ordered_rows::split(std::size_t place, std::uint32_t number, const row_list& piece) {
  const auto middle = piece.size() / 2;
  const byte_string least(piece.key(middle));
  piece.slice(0, middle, 0, half_);
  put_piece(number, half_);
  const row_list directory(directory_->get().value_or(byte_view()));
  const auto next = static_cast<std::uint32_t>(directory.written_ms());
  directory.insert(place + 1, least, bytes_of(next), any_count, std::int64_t{next} + 1, half_);
  directory_->put(half_);
  piece.slice(middle, piece.size(), 0, half_);
  put_piece(next, half_);
}

void ordered_rows::forget_piece(std::size_t place, std::uint32_t number) {
  pieces_->remove(bytes_of(number));
  const row_list directory(directory_->get().value_or(byte_view()));
  if (directory.size() <= 1) {
    directory_->clear();
    return;
  }
  directory.erase(place, directory.written_ms(), changed_);
  directory_->put(changed_);
}

bool ordered_rows::erase(byte_view key, byte_view row) {
  const row_list directory(directory_->get().value_or(byte_view()));
  const auto first = last_before(directory.lower_bound(key));
  list_pieces(directory, first, directory.upper_bound(key));
  if (numbers_.empty() && !directory.is_empty())
    list_pieces(directory, 0, 1);
  for (std::size_t i = 0; i < numbers_.size(); ++i) {
    const row_list piece(pieces_->get(bytes_of(numbers_[i])).value_or(byte_view()));
    const auto at = piece.find(key, row);
    if (!at)
      continue;
    if (piece.size() == 1) {
      forget_piece(first + i, numbers_[i]);
    } else {
      piece.erase(*at, 0, changed_);
      put_piece(numbers_[i], changed_);
    }
    return true;
  }
  return false;
}

bool ordered_rows::take_first(byte_string& key, byte_string& row) {
  while (true) {
    const row_list directory(directory_->get().value_or(byte_view()));
    if (directory.is_empty())
      return false;
    const auto number = number_of(directory.row(0));
    const row_list piece(pieces_->get(bytes_of(number)).value_or(byte_view()));
    if (piece.is_empty()) { // expired
      forget_piece(0, number);
      continue;
    }
    key.assign(piece.key(0));
    row.assign(piece.row(0));
    if (piece.size() == 1) {
      forget_piece(0, number);
    } else {
      piece.erase(0, 0, changed_);
      put_piece(number, changed_);
    }
    return true;
  }
}

} // namespace headrace::task
