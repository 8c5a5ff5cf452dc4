#include "libactors/message/message.hpp"

#include "libactors/base/limits.hpp"

#include <capnp/any.h>

#include <limits>

namespace headrace {
namespace {

using any_list = capnp::List<capnp::AnyPointer>;
using struct_list = capnp::List<capnp::AnyStruct>;

void walk(capnp::AnyPointer::Reader pointer);

void walk(any_list::Reader pointers) {
  for (const auto pointer : pointers) {
    walk(pointer);
  }
}

void walk(capnp::AnyList::Reader list) {
  if (list.getElementSize() == capnp::ElementSize::POINTER) {
    walk(list.as<any_list>());
  } else if (list.getElementSize() == capnp::ElementSize::INLINE_COMPOSITE) {
    for (const auto element : list.as<struct_list>()) {
      const auto pointers = element.getPointerSection();
      if (pointers.size() == 0) {
        return; // all elements have the same shape
      }
      walk(pointers);
    }
  }
}

/// Visits what the pointer leads to. Cap'n Proto counts the words and the depth, and throws where
/// a limit is passed or a pointer leads outside of its segment.
void walk(capnp::AnyPointer::Reader pointer) {
  switch (pointer.getPointerType()) {
  case capnp::PointerType::NULL_:
    return;
  case capnp::PointerType::STRUCT:
    walk(pointer.getAs<capnp::AnyStruct>().getPointerSection());
    return;
  case capnp::PointerType::LIST:
    walk(pointer.getAs<capnp::AnyList>());
    return;
  case capnp::PointerType::CAPABILITY:
    KJ_FAIL_REQUIRE("message carries a capability");
  }
  KJ_FAIL_REQUIRE("message carries a pointer of unknown kind");
}

} // namespace

any_message::any_message(std::uint64_t type_id, kj::Array<capnp::word> words)
    : type_id_(type_id), words_(std::make_shared<const kj::Array<capnp::word>>(std::move(words))) {}

kj::ArrayPtr<const capnp::word> any_message::words() const {
  HEADRACE_ASSERT(words_ != nullptr, "an empty message is read");
  return *words_;
}

capnp::ReaderOptions reader_options_for(std::size_t size_words) {
  capnp::ReaderOptions options;
  options.traversalLimitInWords =
      size_words * limits::message_traversal_factor + limits::message_traversal_extra_words;
  options.nestingLimit = limits::message_nesting_max;
  return options;
}

capnp::ReaderOptions checked_reader_options() {
  capnp::ReaderOptions options;
  options.traversalLimitInWords = std::numeric_limits<std::int64_t>::max();
  options.nestingLimit = limits::message_nesting_max;
  return options;
}

result<any_message> validate_message(std::uint64_t type_id, byte_view raw) {
  if (raw.size() > limits::message_bytes_max) {
    return error(errc::message_too_large, "message too large: " + std::to_string(raw.size()) +
                                              " bytes of at most " +
                                              std::to_string(limits::message_bytes_max));
  }
  if (raw.empty() || raw.size() % sizeof(capnp::word) != 0) {
    return error(errc::malformed_message,
                 "message is not made of whole words: " + std::to_string(raw.size()) + " bytes");
  }
  auto words = kj::heapArray<capnp::word>(raw.size() / sizeof(capnp::word));
  std::memcpy(words.begin(), raw.data(), raw.size());
  auto checked = checked_read([&]() -> status {
    capnp::FlatArrayMessageReader reader(words, reader_options_for(words.size()));
    if (reader.getEnd() != words.end()) {
      return error(errc::malformed_message, "message is followed by other bytes");
    }
    const auto root = reader.getRoot<capnp::AnyPointer>();
    if (!root.isStruct()) {
      return error(errc::malformed_message, "message has no struct at its root");
    }
    walk(root);
    return {};
  });
  if (!checked) {
    return std::move(checked).error();
  }
  return any_message(type_id, std::move(words));
}

} // namespace headrace
