#include "libtask/operator/source_events.hpp"

#include "libactors/message/message.hpp"
#include "schema/source.capnp.h"

namespace headrace::task {

namespace {
byte_string words_of(const any_message& whole) {
  const auto words = whole.words().asBytes();
  return {reinterpret_cast<const char*>(words.begin()), words.size()};
}
} // namespace

byte_string encode_reader_registration(std::uint32_t restored_splits) {
  message_builder<schema::SourceEvent> event;
  event->initRegister().setRestoredSplits(restored_splits);
  return words_of(event.finish().untyped());
}

byte_string encode_split_request() {
  message_builder<schema::SourceEvent> event;
  event->initRequestSplit();
  return words_of(event.finish().untyped());
}

result<reader_orders> decode_reader_orders(byte_view event) {
  HEADRACE_TRY(auto raw, validate_message(type_id_of<schema::SourceEvent>(), event));
  const message<schema::SourceEvent> checked(std::move(raw));
  return checked_read([&]() -> result<reader_orders> {
    const auto view = checked.view();
    reader_orders orders;
    if (view->isNoMoreSplits()) {
      orders.no_more_splits = true;
    } else if (view->isAddSplits()) {
      for (const auto split : view->getAddSplits().getSplits()) {
        const auto state = split.getState().asChars();
        orders.splits.push_back({split.getId().cStr(), byte_string(state.begin(), state.size())});
      }
    } else {
      return error(errc::malformed_message, "event is not for a source reader");
    }
    return orders;
  });
}

} // namespace headrace::task
