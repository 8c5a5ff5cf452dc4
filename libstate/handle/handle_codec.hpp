#pragma once

#include "libstate/handle/state_handle.hpp"

#include <string>

namespace headrace::state {

/// Writes handles. Paths below `base` (a directory without "/" at its end; empty: none) are written
/// relative to it, so that what lies there can be moved.
class handle_encoder {
public:
  handle_encoder(byte_writer& out, std::string base) : out_(out), base_(std::move(base)) {}
  void put(const operator_subtask_state& state);

private:
  void put(const state_segment& segment);
  void put(const keyed_state_handle& handle);
  void put(const operator_state_handle& handle);
  void put(const in_flight_handle& handle);
  template <class T>
  void put_all(const std::vector<T>& values);

  byte_writer out_;
  std::string base_;
};

/// What handles had when they were written.
struct handle_form {
  bool has_checksums = true;  ///< segments
  bool has_watermarks = true; ///< states of subtasks
};

/// Reads what handle_encoder wrote. @errors malformed_message
class handle_decoder {
public:
  handle_decoder(byte_reader& in, std::string base, handle_form form = {})
      : in_(&in), base_(std::move(base)), form_(form) {}
  /// A number of things of which each takes at least a byte.
  result<std::size_t> get_count();
  result<operator_subtask_state> get_subtask_state();

private:
  result<state_segment> get_segment();
  result<keyed_state_handle> get_keyed();
  result<operator_state_handle> get_operator();
  result<in_flight_handle> get_in_flight();
  result<operator_state_handle::list> get_list();
  template <class T>
  status get_all(std::vector<T>& out, result<T> (handle_decoder::*get_one)());

  byte_reader* in_;
  std::string base_;
  handle_form form_;
};

} // namespace headrace::state
