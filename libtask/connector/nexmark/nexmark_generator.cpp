#include "libtask/connector/nexmark/nexmark_generator.hpp"

#include "libactors/base/text.hpp"

#include <array>
#include <string>
#include <utility>

namespace headrace::task {
namespace {

using graph::logical_type;
using graph::physical_type;

enum class value_kind : std::uint8_t { number, text, time };

struct field_facts {
  nexmark_field field;
  nexmark_kind kind;
  std::string_view name; ///< as a field of the row
  value_kind value;
};

constexpr std::array fields{
    field_facts{nexmark_field::person_id, nexmark_kind::person, "id", value_kind::number},
    field_facts{nexmark_field::person_name, nexmark_kind::person, "name", value_kind::text},
    field_facts{nexmark_field::person_email_address, nexmark_kind::person, "emailAddress",
                value_kind::text},
    field_facts{nexmark_field::person_credit_card, nexmark_kind::person, "creditCard",
                value_kind::text},
    field_facts{nexmark_field::person_city, nexmark_kind::person, "city", value_kind::text},
    field_facts{nexmark_field::person_state, nexmark_kind::person, "state", value_kind::text},
    field_facts{nexmark_field::person_date_time, nexmark_kind::person, "dateTime",
                value_kind::time},
    field_facts{nexmark_field::person_extra, nexmark_kind::person, "extra", value_kind::text},
    field_facts{nexmark_field::auction_id, nexmark_kind::auction, "id", value_kind::number},
    field_facts{nexmark_field::auction_item_name, nexmark_kind::auction, "itemName",
                value_kind::text},
    field_facts{nexmark_field::auction_description, nexmark_kind::auction, "description",
                value_kind::text},
    field_facts{nexmark_field::auction_initial_bid, nexmark_kind::auction, "initialBid",
                value_kind::number},
    field_facts{nexmark_field::auction_reserve, nexmark_kind::auction, "reserve",
                value_kind::number},
    field_facts{nexmark_field::auction_date_time, nexmark_kind::auction, "dateTime",
                value_kind::time},
    field_facts{nexmark_field::auction_expires, nexmark_kind::auction, "expires", value_kind::time},
    field_facts{nexmark_field::auction_seller, nexmark_kind::auction, "seller", value_kind::number},
    field_facts{nexmark_field::auction_category, nexmark_kind::auction, "category",
                value_kind::number},
    field_facts{nexmark_field::auction_extra, nexmark_kind::auction, "extra", value_kind::text},
    field_facts{nexmark_field::bid_auction, nexmark_kind::bid, "auction", value_kind::number},
    field_facts{nexmark_field::bid_bidder, nexmark_kind::bid, "bidder", value_kind::number},
    field_facts{nexmark_field::bid_price, nexmark_kind::bid, "price", value_kind::number},
    field_facts{nexmark_field::bid_channel, nexmark_kind::bid, "channel", value_kind::text},
    field_facts{nexmark_field::bid_url, nexmark_kind::bid, "url", value_kind::text},
    field_facts{nexmark_field::bid_date_time, nexmark_kind::bid, "dateTime", value_kind::time},
    field_facts{nexmark_field::bid_extra, nexmark_kind::bid, "extra", value_kind::text},
};
constexpr std::array<std::string_view, 3> kind_names{"person", "auction", "bid"};

bool fits(const logical_type& type, value_kind value) {
  switch (value) {
  case value_kind::number:
    return type.root() == graph::type_root::bigint;
  case value_kind::text:
    return type.root() == graph::type_root::varchar;
  case value_kind::time:
    return type.root() == graph::type_root::timestamp && type.precision() == 3;
  }
  return false;
}

std::string_view wanted(value_kind value) {
  switch (value) {
  case value_kind::number:
    return "BIGINT";
  case value_kind::text:
    return "STRING";
  case value_kind::time:
    break;
  }
  return "TIMESTAMP(3)";
}

error wrong_type(const std::string& column, std::string_view allowed, const logical_type& found) {
  return {errc::type_mismatch, "column `" + column + "` of source 'nexmark' is " +
                                   std::string(allowed) + ", not " + found.nullable().to_sql()};
}

error unknown_column(const std::string& column, std::vector<std::string_view> known) {
  const auto nearest = nearest_name(column, known);
  return {errc::type_mismatch,
          "source 'nexmark' has no column `" + column + "`" +
              (nearest.empty() ? ", it has event_type, the rows person, auction and bid, and their "
                                 "fields as columns such as bid_price"
                               : ", did you mean `" + std::string(nearest) + "`")};
}

/// The field of a kind's row.
result<nexmark_field> find_field(nexmark_kind kind, const std::string& group,
                                 const logical_type::field& wanted_field) {
  std::vector<std::string> known;
  const auto label = group + "." + wanted_field.name;
  for (const auto& each : fields) {
    if (each.kind != kind)
      continue;
    known.emplace_back(each.name);
    if (each.name != wanted_field.name)
      continue;
    if (!fits(wanted_field.type, each.value))
      return wrong_type(label, wanted(each.value), wanted_field.type);
    return each.field;
  }
  return error(errc::type_mismatch,
               "source 'nexmark' has no field `" + label + "`, it has " + join_text(known, ", "));
}

/// Takes its texts from the filler, or from the addresses.
bool is_shared(nexmark_field field) {
  return field == nexmark_field::person_extra || field == nexmark_field::auction_extra ||
         field == nexmark_field::bid_extra || field == nexmark_field::bid_url;
}

void append_text(graph::column_builder& out, const nexmark_text& text) {
  out.append_string(text.view());
}

} // namespace

result<nexmark_generator::column_plan>
nexmark_generator::plan_column(const logical_type::field& column) {
  column_plan out;
  if (column.name == "event_type") {
    if (column.type.root() != graph::type_root::integer)
      return wrong_type(column.name, "INT", column.type);
    out.fields.push_back(nexmark_field::event_type);
    return out;
  }
  std::vector<std::string_view> known{"event_type"};
  std::vector<std::string> flat_names;
  flat_names.reserve(fields.size()); // `known` has views of them
  for (std::size_t kind = 0; kind < kind_names.size(); ++kind) {
    known.push_back(kind_names[kind]);
    if (column.name != kind_names[kind])
      continue;
    if (column.type.physical() != physical_type::row || !column.type.is_nullable())
      return wrong_type(column.name, "a ROW that may be NULL", column.type);
    out.is_row = true;
    out.kind = static_cast<nexmark_kind>(kind);
    for (const auto& each : column.type.fields()) {
      HEADRACE_TRY(const auto field, find_field(out.kind, column.name, each));
      out.fields.push_back(field);
    }
    return out;
  }
  for (const auto& each : fields) {
    const auto kind = static_cast<std::size_t>(each.kind);
    flat_names.push_back(std::string(kind_names[kind]) + "_" + std::string(each.name));
    if (column.name != flat_names.back())
      continue;
    if (!fits(column.type, each.value) || !column.type.is_nullable())
      return wrong_type(column.name, std::string(wanted(each.value)) + " that may be NULL",
                        column.type);
    out.kind = each.kind;
    out.fields.push_back(each.field);
    return out;
  }
  known.insert(known.end(), flat_names.begin(), flat_names.end());
  return unknown_column(column.name, std::move(known));
}

result<std::unique_ptr<graph::row_generator>>
nexmark_generator::create(std::shared_ptr<const nexmark_events> events, const logical_type& type) {
  std::vector<column_plan> columns;
  for (const auto& each : type.fields()) {
    HEADRACE_TRY(auto plan, plan_column(each));
    columns.push_back(std::move(plan));
  }
  return std::unique_ptr<graph::row_generator>(
      new nexmark_generator(std::move(events), std::move(columns)));
}

status nexmark_generator::fill(std::uint64_t first, std::size_t count, graph::batch_builder& out) {
  piece_.clear();
  for (std::uint64_t index = first; index < first + count; ++index)
    piece_.push_back(events_->at(index));
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const auto& plan = columns_[i];
    auto& column = out.column(i);
    for (std::size_t j = 0; j < plan.fields.size(); ++j) {
      auto& target = plan.is_row ? column.child(j) : column;
      if (is_shared(plan.fields[j]))
        target.share(plan.fields[j] == nexmark_field::bid_url ? events_->texts().addresses()
                                                              : events_->texts().filler());
    }
    if (plan.is_row)
      fill_row(plan, column);
    else
      fill_field(plan, column);
  }
  out.end_rows(count);
  return {};
}

void nexmark_generator::fill_row(const column_plan& plan, graph::column_builder& out) const {
  for (const auto& event : piece_) {
    if (event.kind != plan.kind) {
      out.append_null();
      continue;
    }
    for (std::size_t i = 0; i < plan.fields.size(); ++i)
      append(plan.fields[i], event, out.child(i));
    out.end_row();
  }
}

void nexmark_generator::fill_field(const column_plan& plan, graph::column_builder& out) const {
  const auto field = plan.fields.front();
  if (field == nexmark_field::event_type) {
    for (const auto& event : piece_)
      out.append(static_cast<std::int32_t>(event.kind));
    return;
  }
  for (const auto& event : piece_) {
    if (event.kind == plan.kind)
      append(field, event, out);
    else
      out.append_null();
  }
}

void nexmark_generator::append(nexmark_field field, const nexmark_event& event,
                               graph::column_builder& out) const {
  const auto& from = *events_;
  nexmark_text text;
  switch (field) {
  case nexmark_field::event_type:
    return out.append(static_cast<std::int32_t>(event.kind));
  case nexmark_field::person_id:
    return out.append(from.person_id(event));
  case nexmark_field::person_name:
    from.person_name(event, text);
    return append_text(out, text);
  case nexmark_field::person_email_address:
    from.email_address(event, text);
    return append_text(out, text);
  case nexmark_field::person_credit_card:
    from.credit_card(event, text);
    return append_text(out, text);
  case nexmark_field::person_city:
    return out.append_string(from.city(event));
  case nexmark_field::person_state:
    return out.append_string(from.state(event));
  case nexmark_field::person_extra:
    return out.append_shared(from.person_extra(event));
  case nexmark_field::auction_id:
    return out.append(from.auction_id(event));
  case nexmark_field::auction_item_name:
    from.item_name(event, text);
    return append_text(out, text);
  case nexmark_field::auction_description:
    from.description(event, text);
    return append_text(out, text);
  case nexmark_field::auction_initial_bid:
    return out.append(from.initial_bid(event));
  case nexmark_field::auction_reserve:
    return out.append(from.reserve(event));
  case nexmark_field::auction_expires:
    return out.append(from.expires_ms(event));
  case nexmark_field::auction_seller:
    return out.append(from.seller(event));
  case nexmark_field::auction_category:
    return out.append(from.category(event));
  case nexmark_field::auction_extra:
    return out.append_shared(from.auction_extra(event));
  case nexmark_field::bid_auction:
    return out.append(from.bid_auction(event));
  case nexmark_field::bid_bidder:
    return out.append(from.bidder(event));
  case nexmark_field::bid_price:
    return out.append(from.bid_price(event));
  case nexmark_field::bid_channel:
    from.channel(event, text);
    return append_text(out, text);
  case nexmark_field::bid_url:
    return out.append_shared(from.url(event));
  case nexmark_field::bid_extra:
    return out.append_shared(from.bid_extra(event));
  case nexmark_field::person_date_time:
  case nexmark_field::auction_date_time:
  case nexmark_field::bid_date_time:
    return out.append(event.time_ms);
  }
}

} // namespace headrace::task
