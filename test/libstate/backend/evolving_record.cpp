#include "test/libstate/backend/evolving_record.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>

namespace headrace::testing {

namespace {

template <class T>
T take_number(byte_reader& in) {
  const auto read = in.get<T>();
  REQUIRE(read.has_value());
  return *read;
}

} // namespace

void record_schema::add(random_source& random) {
  field made{"f" + std::to_string(made_++), static_cast<root>(random.below(9)),
             random.below(3) == 0};
  fields_.insert(fields_.begin() + static_cast<std::ptrdiff_t>(random.below(fields_.size() + 1)),
                 std::move(made));
}

bool record_schema::widen(field& one, random_source& random) {
  switch (one.type) {
  case root::tinyint:
  case root::smallint:
  case root::integer:
    one.type =
        random.below(3) == 0 ? root::double_ : static_cast<root>(static_cast<int>(one.type) + 1);
    return true;
  case root::float_:
    one.type = root::double_;
    return true;
  case root::integers:
    one.type = root::bigints;
    return true;
  default:
    return false;
  }
}

void record_schema::evolve(random_source& random) {
  for (auto changes = 1 + random.below(3); changes > 0; --changes) {
    auto& some = fields_[random.below(fields_.size())];
    switch (random.below(5)) {
    case 0:
      add(random);
      break;
    case 1:
      if (fields_.size() > 1)
        fields_.erase(fields_.begin() + static_cast<std::ptrdiff_t>(random.below(fields_.size())));
      break;
    case 2:
      widen(some, random);
      break;
    case 3:
      some.is_nullable = true;
      break;
    default:
      std::swap(some, fields_[random.below(fields_.size())]);
    }
  }
  defaults_ = random.below(2) == 0 ? record() : make(random);
  encoded_defaults_ = defaults_.empty() ? byte_string() : encode(defaults_);
}

graph::logical_type record_schema::type_of(root type) {
  switch (type) {
  case root::tinyint:
    return graph::logical_type::tinyint();
  case root::smallint:
    return graph::logical_type::smallint();
  case root::integer:
    return graph::logical_type::integer();
  case root::bigint:
    return graph::logical_type::bigint();
  case root::float_:
    return graph::logical_type::float32();
  case root::double_:
    return graph::logical_type::float64();
  case root::string:
    return graph::logical_type::string();
  case root::integers:
    return graph::logical_type::array(graph::logical_type::integer().not_null());
  case root::bigints:
    return graph::logical_type::array(graph::logical_type::bigint().not_null());
  }
  return graph::logical_type::null();
}

graph::logical_type record_schema::type() const {
  std::vector<graph::logical_type::field> fields;
  for (const auto& one : fields_) {
    const auto type = type_of(one.type);
    fields.push_back({one.name, one.is_nullable ? type : type.not_null(), ""});
  }
  return graph::logical_type::row(std::move(fields)).not_null();
}

field_value record_schema::zero_of(const field& of) {
  if (of.is_nullable)
    return {};
  switch (of.type) {
  case root::float_:
  case root::double_:
    return 0.0;
  case root::string:
    return std::string();
  case root::integers:
  case root::bigints:
    return std::vector<std::int64_t>();
  default:
    return std::int64_t{0};
  }
}

field_value record_schema::random_value(const field& of, random_source& random) {
  if (of.is_nullable && random.below(4) == 0)
    return {};
  const auto number = [&](std::uint64_t bits) {
    const auto span = std::uint64_t{1} << bits;
    return static_cast<std::int64_t>(random.below(span)) - static_cast<std::int64_t>(span / 2);
  };
  switch (of.type) {
  case root::tinyint:
    return number(8);
  case root::smallint:
    return number(16);
  case root::integer:
    return number(32);
  case root::bigint:
    return number(62);
  case root::float_:
  case root::double_:
    return static_cast<double>(number(16)) / 4;
  case root::string:
    return std::string(random.below(random.below(20) == 0 ? 3000 : 30),
                       static_cast<char>('a' + random.below(26)));
  case root::integers:
  case root::bigints: {
    std::vector<std::int64_t> out(random.below(5));
    for (auto& one : out)
      one = number(32);
    return out;
  }
  }
  return {};
}

record record_schema::make(random_source& random) const {
  record out;
  for (const auto& one : fields_)
    out[one.name] = random_value(one, random);
  return out;
}

byte_string record_schema::encode(const record& from) const {
  byte_string out;
  byte_writer to(out);
  for (const auto& one : fields_) {
    const auto& value = from.at(one.name);
    const bool is_there = value.index() != 0;
    if (one.is_nullable)
      to.put(static_cast<std::uint8_t>(is_there));
    if (!is_there)
      continue;
    switch (one.type) {
    case root::tinyint:
      to.put(static_cast<std::int8_t>(std::get<std::int64_t>(value)));
      break;
    case root::smallint:
      to.put(static_cast<std::int16_t>(std::get<std::int64_t>(value)));
      break;
    case root::integer:
      to.put(static_cast<std::int32_t>(std::get<std::int64_t>(value)));
      break;
    case root::bigint:
      to.put(std::get<std::int64_t>(value));
      break;
    case root::float_:
      to.put(static_cast<float>(std::get<double>(value)));
      break;
    case root::double_:
      to.put(std::get<double>(value));
      break;
    case root::string:
      to.put_bytes(std::get<std::string>(value));
      break;
    case root::integers:
    case root::bigints: {
      const auto& elements = std::get<std::vector<std::int64_t>>(value);
      to.put_varint(elements.size());
      for (const auto element : elements) {
        if (one.type == root::integers)
          to.put(static_cast<std::int32_t>(element));
        else
          to.put(element);
      }
    }
    }
  }
  return out;
}

record record_schema::decode(byte_view stored) const {
  record out;
  byte_reader in(stored);
  for (const auto& one : fields_) {
    auto& value = out[one.name];
    if (one.is_nullable && take_number<std::uint8_t>(in) == 0)
      continue;
    switch (one.type) {
    case root::tinyint:
      value = std::int64_t{take_number<std::int8_t>(in)};
      break;
    case root::smallint:
      value = std::int64_t{take_number<std::int16_t>(in)};
      break;
    case root::integer:
      value = std::int64_t{take_number<std::int32_t>(in)};
      break;
    case root::bigint:
      value = take_number<std::int64_t>(in);
      break;
    case root::float_:
      value = double{take_number<float>(in)};
      break;
    case root::double_:
      value = take_number<double>(in);
      break;
    case root::string: {
      const auto text = in.get_bytes();
      REQUIRE(text.has_value());
      value = std::string(*text);
      break;
    }
    case root::integers:
    case root::bigints: {
      const auto count = in.get_varint();
      REQUIRE(count.has_value());
      std::vector<std::int64_t> elements;
      for (std::uint64_t i = 0; i < *count; ++i)
        elements.push_back(one.type == root::integers ? std::int64_t{take_number<std::int32_t>(in)}
                                                      : take_number<std::int64_t>(in));
      value = std::move(elements);
    }
    }
  }
  REQUIRE(in.at_end());
  return out;
}

record record_schema::migrated(const record& from) const {
  record out;
  for (const auto& one : fields_) {
    const auto before = from.find(one.name);
    auto& value = out[one.name];
    if (before == from.end())
      value = defaults_.empty() ? zero_of(one) : defaults_.at(one.name);
    else if (one.type == root::double_ && std::holds_alternative<std::int64_t>(before->second))
      value = static_cast<double>(std::get<std::int64_t>(before->second));
    else
      value = before->second;
  }
  return out;
}

} // namespace headrace::testing
