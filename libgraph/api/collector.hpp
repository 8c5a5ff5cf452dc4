#pragma once

#include "libgraph/api/row_info.hpp"
#include "libgraph/function/output.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace headrace::api {

/// Event time of a row without one.
inline constexpr std::int64_t no_timestamp = std::numeric_limits<std::int64_t>::min();

/// Takes what a function emits. Valid during the call that it is passed to.
template <class Out>
class collector {
public:
  explicit collector(graph::batch_builder& out) : out_(&out) {}

  void emit(const Out& value) {
    row_info<Out>::append(*out_, value);
    if (timestamp_ms_ == no_timestamp)
      out_->end_row();
    else
      out_->end_row(timestamp_ms_);
  }
  void operator()(const Out& value) { emit(value); }

  /// For adaptors: the event time that emitted rows get.
  void set_timestamp(std::int64_t timestamp_ms) { timestamp_ms_ = timestamp_ms; }

private:
  graph::batch_builder* out_;
  std::int64_t timestamp_ms_ = no_timestamp;
};

/// One for each type within a job object: tells apart tags of one name.
using type_key = const void*;
template <class T>
inline constexpr char type_key_anchor = 0;
template <class T>
type_key type_key_of() {
  return &type_key_anchor<T>;
}

/// Names a side output of rows of type T.
template <class T>
class output_tag {
public:
  explicit output_tag(std::string name) : name_(std::move(name)) {}
  const std::string& name() const { return name_; }

private:
  std::string name_;
};

/// The side outputs of one operator that somebody reads, by index. Grows while the job is
/// described; read once it runs.
class side_outputs {
public:
  /// @returns the index of the tag, a new one if it is new
  /// @throws graph::failure  (type_mismatch) the name is taken with another type
  std::size_t add(const std::string& name, type_key type);
  /// @returns -1: nobody reads it
  /// @throws graph::failure  (type_mismatch) it is read as another type
  int find(const std::string& name, type_key type) const;

private:
  struct entry {
    std::string name;
    type_key type;
  };
  std::vector<entry> entries_;
};
using side_outputs_ptr = std::shared_ptr<side_outputs>;

/// Emits to side outputs by tag. What nobody reads is dropped.
class side_collector {
public:
  side_collector(const side_outputs* tags, graph::function_output& out) : tags_(tags), out_(&out) {}

  template <class T>
  void emit(const output_tag<T>& tag, const std::type_identity_t<T>& value,
            std::int64_t timestamp_ms) {
    const int side = tags_->find(tag.name(), type_key_of<T>());
    if (side < 0)
      return;
    collector<T> out(out_->side(static_cast<std::size_t>(side)));
    out.set_timestamp(timestamp_ms);
    out.emit(value);
  }

private:
  const side_outputs* tags_;
  graph::function_output* out_;
};

} // namespace headrace::api
