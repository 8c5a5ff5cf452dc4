#include "libstate/handle/handle_codec.hpp"

namespace headrace::state {

namespace {

enum class path_form : std::uint8_t { whole = 0, relative = 1 };

/// Whether a stored relative path stays below its directory.
bool is_contained(byte_view path) {
  return !path.empty() && path[0] != '/' && path != ".." && !path.starts_with("../") &&
         path.find("/../") == byte_view::npos && !path.ends_with("/..");
}

} // namespace

void handle_encoder::put(const state_segment& segment) {
  const auto start = base_ + "/";
  if (!base_.empty() && segment.path.starts_with(start)) {
    out_.put(path_form::relative);
    out_.put_bytes(byte_view(segment.path).substr(start.size()));
  } else {
    out_.put(path_form::whole);
    out_.put_bytes(segment.path);
  }
  out_.put_varint(segment.offset);
  out_.put_varint(segment.size_bytes);
  out_.put_varint(segment.checksum);
}

void handle_encoder::put(const keyed_state_handle& handle) {
  out_.put(handle.groups.first);
  out_.put(handle.groups.end);
  out_.put_bytes(handle.format);
  put(handle.segment);
  out_.put_varint(handle.shared.size());
  for (const auto& file : handle.shared) {
    out_.put_bytes(file.name);
    put(file.segment);
  }
}

void handle_encoder::put(const in_flight_handle& handle) {
  put(handle.segment);
  out_.put_varint(static_cast<std::uint64_t>(handle.rescaled_from + 1));
}

void handle_encoder::put(const operator_state_handle& handle) {
  put(handle.segment);
  out_.put_varint(handle.lists.size());
  for (const auto& list : handle.lists) {
    out_.put_bytes(list.name);
    out_.put(list.how);
    out_.put_varint(list.elements.size());
    for (const auto& element : list.elements) {
      out_.put_varint(element.begin);
      out_.put_varint(element.end - element.begin);
      out_.put(element.checksum);
    }
  }
}

template <class T>
void handle_encoder::put_all(const std::vector<T>& values) {
  out_.put_varint(values.size());
  for (const auto& value : values)
    put(value);
}

void handle_encoder::put(const operator_subtask_state& state) {
  put_all(state.keyed);
  put_all(state.managed);
  put_all(state.raw_keyed);
  put_all(state.raw_operator);
  put_all(state.channels);
  out_.put(static_cast<std::uint8_t>(state.watermark_ms ? 1 : 0));
  if (state.watermark_ms)
    out_.put(*state.watermark_ms);
}

result<std::size_t> handle_decoder::get_count() {
  HEADRACE_TRY(const auto count, in_->get_varint());
  if (count > in_->remaining())
    return error(errc::malformed_message, "impossible number of handles: " + std::to_string(count));
  return static_cast<std::size_t>(count);
}

result<state_segment> handle_decoder::get_segment() {
  state_segment out;
  HEADRACE_TRY(const auto form, in_->get<std::uint8_t>());
  HEADRACE_TRY(const auto path, in_->get_bytes());
  if (form == static_cast<std::uint8_t>(path_form::relative)) {
    if (base_.empty() || !is_contained(path))
      return error(errc::malformed_message, "path leads out of its directory");
    out.path = base_ + "/" + std::string(path);
  } else if (form == static_cast<std::uint8_t>(path_form::whole)) {
    out.path = std::string(path);
  } else {
    return error(errc::malformed_message, "unknown form of a path: " + std::to_string(form));
  }
  HEADRACE_TRY(out.offset, in_->get_varint());
  HEADRACE_TRY(out.size_bytes, in_->get_varint());
  if (form_.has_checksums) {
    HEADRACE_TRY(out.checksum, in_->get_varint());
  }
  return out;
}

result<keyed_state_handle> handle_decoder::get_keyed() {
  keyed_state_handle out;
  HEADRACE_TRY(out.groups.first, in_->get<std::int32_t>());
  HEADRACE_TRY(out.groups.end, in_->get<std::int32_t>());
  if (out.groups.first < 0 || out.groups.end < out.groups.first ||
      out.groups.end > graph::max_parallelism_most)
    return error(errc::malformed_message, "impossible key groups");
  HEADRACE_TRY(const auto format, in_->get_bytes());
  out.format = std::string(format);
  HEADRACE_TRY(out.segment, get_segment());
  HEADRACE_TRY(const auto count, get_count());
  for (std::size_t i = 0; i < count; ++i) {
    shared_file file;
    HEADRACE_TRY(const auto name, in_->get_bytes());
    file.name = std::string(name);
    HEADRACE_TRY(file.segment, get_segment());
    out.shared.push_back(std::move(file));
  }
  return out;
}

result<operator_state_handle::list> handle_decoder::get_list() {
  operator_state_handle::list out;
  HEADRACE_TRY(const auto name, in_->get_bytes());
  out.name = std::string(name);
  HEADRACE_TRY(const auto how, in_->get<std::uint8_t>());
  if (how < 1 || how > 3)
    return error(errc::malformed_message, "unknown mode of a list: " + std::to_string(how));
  out.how = static_cast<operator_state_handle::mode>(how);
  HEADRACE_TRY(const auto count, get_count());
  for (std::size_t i = 0; i < count; ++i) {
    operator_state_handle::list::element one;
    HEADRACE_TRY(one.begin, in_->get_varint());
    HEADRACE_TRY(const auto size, in_->get_varint());
    if (size > ~std::uint64_t{0} - one.begin)
      return error(errc::malformed_message, "impossible place of an element");
    one.end = one.begin + size;
    HEADRACE_TRY(one.checksum, in_->get<std::uint64_t>());
    out.elements.push_back(one);
  }
  return out;
}

result<in_flight_handle> handle_decoder::get_in_flight() {
  in_flight_handle out;
  HEADRACE_TRY(out.segment, get_segment());
  HEADRACE_TRY(const auto from, in_->get_varint());
  if (from > static_cast<std::uint64_t>(graph::max_parallelism_most))
    return error(errc::malformed_message, "impossible subtask: " + std::to_string(from));
  out.rescaled_from = static_cast<std::int32_t>(from) - 1;
  return out;
}

result<operator_state_handle> handle_decoder::get_operator() {
  operator_state_handle out;
  HEADRACE_TRY(out.segment, get_segment());
  HEADRACE_CHECK(get_all(out.lists, &handle_decoder::get_list));
  return out;
}

template <class T>
status handle_decoder::get_all(std::vector<T>& out, result<T> (handle_decoder::*get_one)()) {
  HEADRACE_TRY(const auto count, get_count());
  for (std::size_t i = 0; i < count; ++i) {
    HEADRACE_TRY(auto one, (this->*get_one)());
    out.push_back(std::move(one));
  }
  return {};
}

result<operator_subtask_state> handle_decoder::get_subtask_state() {
  operator_subtask_state out;
  HEADRACE_CHECK(get_all(out.keyed, &handle_decoder::get_keyed));
  HEADRACE_CHECK(get_all(out.managed, &handle_decoder::get_operator));
  HEADRACE_CHECK(get_all(out.raw_keyed, &handle_decoder::get_keyed));
  HEADRACE_CHECK(get_all(out.raw_operator, &handle_decoder::get_operator));
  HEADRACE_CHECK(get_all(out.channels, &handle_decoder::get_in_flight));
  if (!form_.has_watermarks)
    return out;
  HEADRACE_TRY(const auto has_watermark, in_->get<std::uint8_t>());
  if (has_watermark > 1)
    return error(errc::malformed_message,
                 "unknown form of a watermark: " + std::to_string(has_watermark));
  if (has_watermark == 1) {
    HEADRACE_TRY(out.watermark_ms, in_->get<std::int64_t>());
  }
  return out;
}

} // namespace headrace::state
