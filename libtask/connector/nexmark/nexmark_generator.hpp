#pragma once

#include "libtask/connector/nexmark/nexmark_events.hpp"
#include "libgraph/connector/generator_source.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace headrace::task {

/// A field of Nexmark's events, by its group and place.
enum class nexmark_field : std::uint8_t {
  event_type,
  person_id,
  person_name,
  person_email_address,
  person_credit_card,
  person_city,
  person_state,
  person_date_time,
  person_extra,
  auction_id,
  auction_item_name,
  auction_description,
  auction_initial_bid,
  auction_reserve,
  auction_date_time,
  auction_expires,
  auction_seller,
  auction_category,
  auction_extra,
  bid_auction,
  bid_bidder,
  bid_price,
  bid_channel,
  bid_url,
  bid_date_time,
  bid_extra,
};

/// Fills columns with events, those fields alone that the type has. Of one thread at a time.
class nexmark_generator final : public graph::row_generator {
public:
  /// @param type  of `event_type`, the rows `person`, `auction` and `bid`, or instead of these
  ///              their fields as columns, `bid_price`; any of all of them, in any order
  /// @errors type_mismatch  names the column, and what there is
  static result<std::unique_ptr<graph::row_generator>>
  create(std::shared_ptr<const nexmark_events> events, const graph::logical_type& type);

  status fill(std::uint64_t first, std::size_t count, graph::batch_builder& out) override;

private:
  /// A column: one field, or those of a row.
  struct column_plan {
    bool is_row = false;
    nexmark_kind kind = nexmark_kind::bid; ///< events that have it; not of event_type
    std::vector<nexmark_field> fields;
  };
  nexmark_generator(std::shared_ptr<const nexmark_events> events, std::vector<column_plan> columns)
      : events_(std::move(events)), columns_(std::move(columns)) {}

  static result<column_plan> plan_column(const graph::logical_type::field& column);
  void append(nexmark_field field, const nexmark_event& event, graph::column_builder& out) const;
  void fill_row(const column_plan& plan, graph::column_builder& out) const;
  void fill_field(const column_plan& plan, graph::column_builder& out) const;

  std::shared_ptr<const nexmark_events> events_;
  std::vector<column_plan> columns_;
  std::vector<nexmark_event> piece_; ///< being filled
};

} // namespace headrace::task
