#pragma once

#include "libactors/base/bytes.hpp"
#include "libactors/base/result.hpp"

#include <capnp/message.h>
#include <capnp/schema.h>
#include <capnp/serialize.h>

#include <cstdint>
#include <memory>
#include <utility>

namespace headrace {

/// Returns the 64-bit id that Cap'n Proto gave the struct: a message's type on the wire.
template <class S>
constexpr std::uint64_t type_id_of() {
  return capnp::typeId<S>();
}

/// Holds the words of one immutable Cap'n Proto message, reference-counted, and the type id of its
/// root. Copying shares; any thread may read. An empty one has no words and must not be viewed.
class any_message {
public:
  any_message() = default;
  any_message(std::uint64_t type_id, kj::Array<capnp::word> words);

  bool is_empty() const { return words_ == nullptr; }
  std::uint64_t type_id() const { return type_id_; }
  kj::ArrayPtr<const capnp::word> words() const;
  std::size_t size_bytes() const { return words().size() * sizeof(capnp::word); }

private:
  std::uint64_t type_id_ = 0;
  std::shared_ptr<const kj::Array<capnp::word>> words_;
};

/// Reads a message in place. Lives on the stack of the one who reads; holds the words alive.
/// Its getters may throw kj::Exception on malformed words: endpoints and codecs catch that at
/// their edge (see `checked_read`).
template <class S>
class message_view {
public:
  explicit message_view(any_message held);
  message_view(const message_view&) = delete;
  message_view& operator=(const message_view&) = delete;

  const typename S::Reader& operator*() const { return root_; }
  const typename S::Reader* operator->() const { return &root_; }

private:
  any_message held_;
  capnp::FlatArrayMessageReader reader_;
  typename S::Reader root_;
};

/// An immutable message whose root is an S. Within a process it is passed by pointer; between
/// processes its words are sent as they are. A value.
template <class S>
class message {
public:
  message() = default;
  /// The caller has checked that `held.type_id()` is S's.
  explicit message(any_message held) : held_(std::move(held)) {}

  message_view<S> view() const { return message_view<S>(held_); }
  const any_message& untyped() const { return held_; }
  bool is_empty() const { return held_.is_empty(); }

private:
  any_message held_;
};

/// Builds a message: `message_builder<S> b; b->setX(1); return b.finish();`
template <class S>
class message_builder {
public:
  message_builder() : root_(arena_.template initRoot<S>()) {}
  typename S::Builder& operator*() { return root_; }
  typename S::Builder* operator->() { return &root_; }
  message<S> finish() {
    return message<S>(any_message(type_id_of<S>(), capnp::messageToFlatArray(arena_)));
  }

private:
  capnp::MallocMessageBuilder arena_;
  typename S::Builder root_;
};

/// The limits under which the words of a message from outside are checked (sizes from the message
/// itself, so that hostile pointers cannot make a small message cost much).
capnp::ReaderOptions reader_options_for(std::size_t size_words);
/// The limits under which a message is read that was built here or has been checked: a handler may
/// call a getter as often as it likes.
capnp::ReaderOptions checked_reader_options();

/// Takes bytes from outside: checks size (multiple of 8, at most `message_bytes_max` of
/// limits.hpp), segment table, and that the whole pointer tree can be walked within the limits.
/// @errors malformed_message, message_too_large
result<any_message> validate_message(std::uint64_t type_id, byte_view raw);

/// Runs `read`, and makes an error of what Cap'n Proto throws. `read` returns a result.
template <class Read>
auto checked_read(Read&& read) -> decltype(read()) {
  try {
    return read();
  } catch (const kj::Exception& failure) {
    return error(errc::malformed_message, failure.getDescription().cStr());
  } catch (const std::exception& failure) {
    return error(errc::malformed_message, failure.what());
  }
}

template <class S>
message_view<S>::message_view(any_message held)
    : held_(std::move(held)), reader_(held_.words(), checked_reader_options()),
      root_(reader_.template getRoot<S>()) {}

} // namespace headrace
