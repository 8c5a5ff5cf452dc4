#pragma once

#include "libtask/operator/rank/row_list.hpp"
#include "libgraph/function/state.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace headrace::task {

/// Any number of rows of the current key in an order, in two states: pieces of some kilobytes, and
/// a directory of them, so that a change costs about the same whatever there is.
///
///     directory   a row_list: the least key a piece may have → the piece's number
///     pieces      number → row_list
///
/// On the subtask's mailbox; failures of storage are thrown as `failure`.
class ordered_rows {
public:
  /// Opens the states `name`-directory and `name`-pieces. @param ttl_ms  of each piece; 0: for ever
  ordered_rows(graph::state_provider& states, const std::string& name, std::int64_t ttl_ms);

  /// Adds a row, before those whose key is equal or behind them.
  void insert(byte_view key, byte_view row, bool before_equals);
  /// Takes the first row that is equal out. @returns false: there is none
  bool erase(byte_view key, byte_view row);
  /// Takes the first row out. @returns false: there is none
  bool take_first(byte_string& key, byte_string& row);

  /// A piece that grows beyond is split.
  static constexpr std::size_t piece_bytes_max = 8192;

private:
  /// Numbers of the pieces [from, to) of the directory.
  void list_pieces(const row_list& directory, std::size_t from, std::size_t to);
  void put_piece(std::uint32_t number, byte_view piece);
  /// The directory lives as long as the piece that was written last.
  void touch_directory();
  void split(std::size_t place, std::uint32_t number, const row_list& piece);
  void forget_piece(std::size_t place, std::uint32_t number);

  graph::value_access* directory_;
  graph::map_access* pieces_;
  bool expires_;
  std::vector<std::uint32_t> numbers_;
  byte_string changed_;
  byte_string half_;
};

} // namespace headrace::task
