#pragma once

#include "bench/nexmark/loop_events.hpp"

#include <simdjson.h>

#include <memory>
#include <string>

namespace headrace::bench::nexmark {

/// The events of one file of JSON lines, one after the other, decoded where they lie.
///
/// One thread; throws std::runtime_error when a file cannot be read, simdjson_error when a line is
/// no event.
class json_reader {
public:
  explicit json_reader(const std::string& path);
  ~json_reader();
  json_reader(const json_reader&) = delete;
  json_reader& operator=(const json_reader&) = delete;

  /// Whether there is one more event, which is then the current one.
  bool next();

  /// Gives the current event to `query`: to `on_person`, `on_auction` or `on_bid`, with the fields
  /// that `Query::person_fields` and so on name; 0: not at all. Texts are valid until `next`.
  template <class Query>
  void give_to(Query& query) {
    auto document = *at_;
    object event = document.get_object();
    const std::int64_t which = event.find_field("event_type");
    if (which == 0) {
      if constexpr (Query::person_fields != 0)
        query.on_person(decode_person(event.find_field("person"), Query::person_fields));
    } else if (which == 1) {
      if constexpr (Query::auction_fields != 0)
        query.on_auction(decode_auction(event.find_field("auction"), Query::auction_fields));
    } else {
      if constexpr (Query::bid_fields != 0)
        query.on_bid(decode_bid(event.find_field("bid"), Query::bid_fields));
    }
  }

private:
  using object = simdjson::ondemand::object;

  static person decode_person(object from, fields wanted);
  static auction decode_auction(object from, fields wanted);
  static bid decode_bid(object from, fields wanted);
  bool fill();

  int file_ = -1;
  std::unique_ptr<char[]> block_;
  std::size_t used_ = 0;     // bytes of the block that are whole lines
  std::size_t received_ = 0; // bytes of the block
  simdjson::ondemand::parser parser_;
  simdjson::ondemand::document_stream documents_;
  simdjson::ondemand::document_stream::iterator at_, end_;
  bool is_started_ = false;
};

} // namespace headrace::bench::nexmark
