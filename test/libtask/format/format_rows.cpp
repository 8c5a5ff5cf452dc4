#include "test/libtask/format/format_rows.hpp"

#include "libtask/format/scalar_text.hpp"
#include "libgraph/data/row_format.hpp"
#include "libgraph/kernel/compare.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace headrace::testing {

using graph::column;
using graph::column_builder;
using graph::int128;
using graph::logical_type;
using graph::physical_type;
using graph::type_root;

namespace {

std::int64_t between(random_engine& random, std::int64_t least, std::int64_t most) {
  return std::uniform_int_distribution<std::int64_t>(least, most)(random);
}

std::string random_text(random_engine& random) {
  static const std::vector<std::string> pieces{"a", "bc",   " ",  ",", "\"", "\"\"", "'",  "\\",
                                               "ü", "日本", "\t", "|", "#",  "null", "{}", "x y z"};
  std::string out;
  for (auto count = random() % 8; count > 0; --count)
    out += pieces[random() % pieces.size()];
  return out;
}

int128 power_of_ten(int exponent) {
  int128 out = 1;
  for (; exponent > 0; --exponent)
    out *= 10;
  return out;
}

void append_time_value(random_engine& random, const logical_type& type, column_builder& out) {
  // Years 1 to 9999.
  const auto seconds = between(random, -62135596800, 253402300799);
  const auto unit = static_cast<std::int64_t>(power_of_ten(9 - type.precision()));
  const auto nanos = between(random, 0, 999'999'999) / unit * unit;
  if (type.precision() <= 3)
    out.append(seconds * 1000 + nanos / 1'000'000);
  else
    out.append(int128{seconds} * 1'000'000'000 + nanos);
}

void append_random(random_engine& random, const logical_type& type, column_builder& out);

/// A map or multiset, whose keys differ.
void append_random_entries(random_engine& random, const logical_type& type, column_builder& out) {
  column_builder made(type.storage_child(0));
  for (auto count = random() % 4; count > 0; --count)
    append_random(random, type.storage_child(0), made);
  const auto keys = made.finish();
  out.begin_list();
  for (std::size_t i = 0; i < keys->size(); ++i) {
    bool came_before = false;
    for (std::size_t k = 0; k < i; ++k)
      came_before |= graph::are_equal_keys(*keys, i, *keys, k);
    if (came_before)
      continue;
    if (keys->is_null(i))
      out.child(0).append_null();
    else
      out.child(0).append_from(*keys, i);
    append_random(random, type.storage_child(1), out.child(1));
  }
  out.end_list();
}

void append_random(random_engine& random, const logical_type& type, column_builder& out) {
  if (type.is_nullable() && random() % 8 == 0) {
    out.append_null();
    return;
  }
  switch (type.root()) {
  case type_root::boolean:
    return out.append(static_cast<std::uint8_t>(random() % 2));
  case type_root::tinyint:
    return out.append(static_cast<std::int8_t>(random()));
  case type_root::smallint:
    return out.append(static_cast<std::int16_t>(random()));
  case type_root::integer:
  case type_root::interval_year_month:
    return out.append(static_cast<std::int32_t>(random()));
  case type_root::bigint:
  case type_root::interval_day_time:
    return out.append(static_cast<std::int64_t>(random() >> (random() % 64)));
  case type_root::float_:
    return out.append(static_cast<float>(between(random, -1000000, 1000000)) / 128.0F);
  case type_root::double_:
    return out.append(static_cast<double>(between(random, -1000000000, 1000000000)) *
                      (random() % 2 == 0 ? 1e-12 : 1e20));
  case type_root::decimal: {
    const auto wide =
        int128{static_cast<std::int64_t>(random())} * static_cast<std::int64_t>(random());
    return out.append(wide % power_of_ten(type.precision()));
  }
  case type_root::character:
  case type_root::varchar:
  case type_root::binary:
  case type_root::varbinary:
    return out.append_string(random_text(random));
  case type_root::date:
    return out.append(static_cast<std::int32_t>(between(random, -719162, 2932896)));
  case type_root::time:
    return out.append(static_cast<std::int32_t>(between(random, 0, 86'399'999)));
  case type_root::timestamp:
  case type_root::timestamp_ltz:
    return append_time_value(random, type, out);
  case type_root::row:
    for (std::size_t i = 0; i < type.child_count(); ++i)
      append_random(random, type.child(i), out.child(i));
    return out.end_row();
  case type_root::map:
  case type_root::multiset:
    return append_random_entries(random, type, out);
  case type_root::array:
    out.begin_list();
    for (auto count = random() % 4; count > 0; --count) {
      for (std::size_t i = 0; i < type.storage_child_count(); ++i)
        append_random(random, type.storage_child(i), out.child(i));
    }
    return out.end_list();
  case type_root::null:
    return out.append_null();
  }
}

void append_text(const column& values, std::size_t row, std::string& out) {
  if (values.is_null(row) || values.type().physical() == physical_type::none) {
    out += "NULL";
  } else if (values.type().physical() == physical_type::row) {
    out += "ROW(";
    for (std::size_t i = 0; i < values.type().child_count(); ++i) {
      append_text(values.child(i), row, out);
      out += ';';
    }
    out += ')';
  } else if (!task::is_scalar(values.type())) {
    const auto* offsets = values.values<std::int32_t>();
    out += '[';
    for (auto i = offsets[row]; i < offsets[row + 1]; ++i) {
      for (std::size_t child = 0; child < values.type().storage_child_count(); ++child) {
        append_text(values.child(child), static_cast<std::size_t>(i), out);
        out += '=';
      }
      out += ';';
    }
    out += ']';
  } else {
    out += '<';
    task::write_scalar(values, row, task::timestamp_style::sql, out);
    out += '>';
  }
}

} // namespace

graph::row_type_ptr row_of(std::vector<logical_type> types) {
  std::vector<logical_type::field> fields;
  for (auto& type : types)
    fields.push_back({"c" + std::to_string(fields.size()), std::move(type), ""});
  return std::make_shared<const logical_type>(logical_type::row(std::move(fields)));
}

logical_type random_scalar_type(random_engine& random) {
  const auto precision = static_cast<int>(random() % 10);
  const int digits = static_cast<int>(random() % 38) + 1;
  const std::vector<logical_type> all{
      logical_type::boolean(),
      logical_type::tinyint(),
      logical_type::smallint(),
      logical_type::integer(),
      logical_type::bigint(),
      logical_type::float32(),
      logical_type::float64(),
      logical_type::decimal(digits, static_cast<int>(random() % static_cast<unsigned>(digits + 1))),
      logical_type::string(),
      logical_type::bytes(),
      logical_type::date(),
      logical_type::time(3),
      logical_type::timestamp(precision),
      logical_type::timestamp_ltz(precision),
      logical_type::interval_year_month(),
      logical_type::interval_day_time()};
  const auto& type = all[random() % all.size()];
  return random() % 4 == 0 ? type.not_null() : type;
}

graph::record_batch random_rows(random_engine& random, const graph::row_type_ptr& type,
                                std::size_t rows) {
  graph::batch_builder builder(type);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < type->child_count(); ++i)
      append_random(random, type->child(i), builder.column(i));
    builder.end_row();
  }
  return builder.finish();
}

std::vector<std::string> rows_as_texts(const graph::record_batch& rows) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string text;
    if (rows.kinds() != nullptr && rows.kinds()[rows.row_at(i)] != graph::row_kind::insert)
      graph::format_kind(rows.kinds()[rows.row_at(i)], text);
    for (const auto& values : rows.columns()) {
      append_text(*values, rows.row_at(i), text);
      text += '|';
    }
    out.push_back(std::move(text));
  }
  return out;
}

decoded_text decode_text(graph::decoder& decoder, const graph::row_type_ptr& type,
                         const std::string& text, std::size_t first_bytes, std::size_t rows_max,
                         bool shares) {
  decoded_text out;
  std::size_t at = 0;
  auto known = std::min(first_bytes, text.size());
  for (;;) {
    const bool last = known == text.size();
    const auto size = known - at;
    auto owner = graph::buffer::allocate(size);
    if (size > 0)
      std::memcpy(owner->mutable_data(), text.data() + at, size);
    graph::batch_builder builder(type);
    const auto done = decoder.decode({owner->as<char>(), size}, last, {"in", at, out.lines + 1},
                                     rows_max, shares ? owner : nullptr, builder);
    if (!done) {
      out.failure = done.error();
      return out;
    }
    REQUIRE(done->bytes <= size);
    REQUIRE(builder.size() <= rows_max);
    out.skipped += done->skipped;
    out.lines += done->lines;
    at += done->bytes;
    const auto rows = builder.finish();
    for (const auto& values : rows.columns())
      REQUIRE(values->validate().has_value());
    const auto texts = rows_as_texts(rows);
    out.rows.insert(out.rows.end(), texts.begin(), texts.end());
    if (texts.size() < rows_max) {
      if (last) {
        REQUIRE(at == text.size());
        return out;
      }
      known = text.size();
    }
  }
}

} // namespace headrace::testing
