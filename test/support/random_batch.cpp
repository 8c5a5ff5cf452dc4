#include "test/support/random_batch.hpp"

#include "libgraph/data/fixed_width.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>

namespace headrace::testing {

using namespace graph;

namespace {

__extension__ using uint128 = unsigned __int128;

std::string fixed_text(int128 value) {
  const auto bits = static_cast<uint128>(value);
  return std::to_string(static_cast<std::uint64_t>(bits >> 64U)) + ":" +
         std::to_string(static_cast<std::uint64_t>(bits));
}

template <class T>
std::string fixed_text(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value))
      return "NaN";
    return value == T{0} ? "0" : std::to_string(value);
  } else {
    return std::to_string(value);
  }
}

std::string list_text(const std::vector<std::string>& elements) {
  std::string out = "[";
  for (const auto& each : elements)
    out += each + ",";
  return out + "]";
}

std::string elements_text(bool is_map, std::vector<std::string> elements) {
  if (is_map)
    std::sort(elements.begin(), elements.end());
  return list_text(elements);
}

template <class T>
T random_fixed(dice& random, physical_type physical, variety values) {
  if (physical == physical_type::boolean)
    return static_cast<T>(random.below(2));
  if constexpr (std::is_floating_point_v<T>) {
    static constexpr T special[] = {T{0}, -T{0}, std::numeric_limits<T>::quiet_NaN(),
                                    std::numeric_limits<T>::infinity()};
    if (random.one_in(4))
      return special[random.below(4)];
    return static_cast<T>(random.below(values == variety::few ? 5 : 1000000)) / T{4};
  } else {
    if (values == variety::few)
      return static_cast<T>(random.below(5));
    if constexpr (sizeof(T) == 16)
      return (static_cast<T>(static_cast<std::int64_t>(random.next())) << (random.below(3) * 20)) +
             static_cast<T>(random.below(100));
    else
      return static_cast<T>(random.next());
  }
}

std::string random_string(dice& random, variety values) {
  static constexpr std::size_t lengths[] = {0, 1, 3, 4, 5, 8, 11, 12, 13, 20, 300};
  if (values == variety::few) {
    const auto which = random.below(6);
    return std::string(lengths[which * 2], static_cast<char>('a' + which));
  }
  std::string out(lengths[random.below(std::size(lengths))], ' ');
  for (auto& each : out)
    each = static_cast<char>(random.next());
  if (random.one_in(200))
    out.resize(70000, 'z');
  return out;
}

} // namespace

logical_type random_type(dice& random, int depth) {
  logical_type out;
  switch (random.below(depth > 0 ? 18 : 14)) {
  case 0:
    out = logical_type::boolean();
    break;
  case 1:
    out = logical_type::tinyint();
    break;
  case 2:
    out = logical_type::smallint();
    break;
  case 3:
    out = logical_type::integer();
    break;
  case 4:
  case 5:
    out = logical_type::bigint();
    break;
  case 6:
    out = logical_type::float32();
    break;
  case 7:
    out = logical_type::float64();
    break;
  case 8:
    out = logical_type::decimal(20, 2);
    break;
  case 9:
    out = logical_type::timestamp(static_cast<int>(random.below(10)));
    break;
  case 10:
    out = logical_type::date();
    break;
  case 11:
    return logical_type::null();
  case 12:
  case 13:
    out = logical_type::string();
    break;
  case 14:
    out = logical_type::array(random_type(random, depth - 1));
    break;
  case 15:
    out = logical_type::map(random_type(random, depth - 1), random_type(random, depth - 1));
    break;
  case 16:
    out = logical_type::multiset(random_type(random, depth - 1));
    break;
  default: {
    std::vector<logical_type::field> fields;
    for (auto count = random.below(3) + 1; count > 0; --count)
      fields.push_back({"f" + std::to_string(count), random_type(random, depth - 1), {}});
    out = logical_type::row(std::move(fields));
  }
  }
  return random.one_in(3) ? out.not_null() : out;
}

row_type_ptr random_row_type(dice& random, std::size_t fields_max, int depth) {
  std::vector<logical_type::field> fields;
  for (auto count = random.below(fields_max) + 1; count > 0; --count)
    fields.push_back({"c" + std::to_string(count), random_type(random, depth), {}});
  return std::make_shared<const logical_type>(logical_type::row(std::move(fields)));
}

std::string append_random(dice& random, column_builder& to, variety values) {
  const auto& type = to.type();
  const auto physical = type.physical();
  if (physical == physical_type::none || (type.is_nullable() && random.one_in(6))) {
    to.append_null();
    return "null";
  }
  std::string text;
  const bool is_fixed = visit_fixed_width(physical, [&]<class T>(std::type_identity<T>) {
    const T value = random_fixed<T>(random, physical, values);
    to.append(value);
    text = fixed_text(value);
  });
  if (is_fixed)
    return text;
  if (physical == physical_type::string) {
    text = random_string(random, values);
    to.append_string(text);
    return "'" + text + "'";
  }
  std::vector<std::string> elements;
  if (physical == physical_type::row) {
    for (std::size_t i = 0; i < type.storage_child_count(); ++i)
      elements.push_back(append_random(random, to.child(i), values));
    to.end_row();
    return list_text(elements);
  }
  to.begin_list();
  for (auto count = random.below(4); count > 0; --count) {
    std::string entry;
    for (std::size_t i = 0; i < type.storage_child_count(); ++i)
      entry += append_random(random, to.child(i), values) + "=";
    elements.push_back(std::move(entry));
  }
  to.end_list();
  return elements_text(physical == physical_type::map, std::move(elements));
}

std::string cell_text(const column& values, std::size_t row) {
  const auto physical = values.type().physical();
  if (values.is_null(row))
    return "null";
  std::string text;
  const bool is_fixed = visit_fixed_width(physical, [&]<class T>(std::type_identity<T>) {
    text = fixed_text(values.values<T>()[row]);
  });
  if (is_fixed)
    return text;
  if (physical == physical_type::string)
    return "'" + std::string(values.string_at(row)) + "'";
  std::vector<std::string> elements;
  if (physical == physical_type::row) {
    for (const auto& each : values.content().children)
      elements.push_back(cell_text(*each, row));
    return list_text(elements);
  }
  const auto* offsets = values.values<std::int32_t>();
  for (auto at = offsets[row]; at < offsets[row + 1]; ++at) {
    std::string entry;
    for (const auto& each : values.content().children)
      entry += cell_text(*each, static_cast<std::size_t>(at)) + "=";
    elements.push_back(std::move(entry));
  }
  return elements_text(physical == physical_type::map, std::move(elements));
}

std::vector<std::string> row_texts(const record_batch& batch) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const auto row = batch.row_at(i);
    std::string text = std::to_string(batch.kinds() ? static_cast<int>(batch.kinds()[row]) : 0);
    text += "@" + (batch.timestamps() ? std::to_string(batch.timestamps()[row]) : "") + " ";
    for (const auto& each : batch.columns())
      text += cell_text(*each, row) + "|";
    out.push_back(std::move(text));
  }
  return out;
}

buffer_ptr selection_of(const std::vector<std::uint32_t>& rows) {
  auto out = buffer::allocate(rows.size() * sizeof(std::uint32_t));
  std::copy(rows.begin(), rows.end(), out->mutable_as<std::uint32_t>());
  return out;
}

record_batch random_batch(dice& random, const row_type_ptr& type, std::size_t rows, variety values,
                          std::vector<std::string>& texts) {
  batch_builder builder(type);
  const bool has_kinds = random.one_in(3);
  const bool has_timestamps = random.one_in(2);
  std::vector<std::string> all;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto kind = static_cast<row_kind>(has_kinds ? random.below(4) : 0);
    const auto timestamp_ms = static_cast<std::int64_t>(random.below(1000));
    std::string text = std::to_string(static_cast<int>(kind)) + "@" +
                       (has_timestamps ? std::to_string(timestamp_ms) : "") + " ";
    for (std::size_t column = 0; column < type->fields().size(); ++column)
      text += append_random(random, builder.column(column), values) + "|";
    if (has_timestamps)
      builder.end_row(kind, timestamp_ms);
    else
      builder.end_row(kind);
    all.push_back(std::move(text));
  }
  auto out = builder.finish();
  if (!random.one_in(3)) {
    texts = std::move(all);
    return out;
  }
  std::vector<std::uint32_t> selected;
  texts.clear();
  const auto rarity = random.below(8) + 1;
  for (std::size_t i = 0; i < rows; ++i)
    if (random.one_in(rarity)) {
      selected.push_back(static_cast<std::uint32_t>(i));
      texts.push_back(all[i]);
    }
  return out.with_selection(selection_of(selected), selected.size());
}

void check_valid(const record_batch& batch) {
  for (const auto& each : batch.columns()) {
    const auto outcome = each->validate();
    const auto words = outcome ? std::string() : outcome.error().message;
    REQUIRE_MESSAGE(outcome.has_value(), words);
  }
}

} // namespace headrace::testing
