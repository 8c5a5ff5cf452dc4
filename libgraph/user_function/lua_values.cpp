#include "libgraph/user_function/lua_values.hpp"

#include "libgraph/types/value_text.hpp"

#include <lua.hpp>

#include <limits>
#include <optional>
#include <string>

namespace headrace::graph {
namespace {

constexpr int depth_max = 100;   ///< of nested values
constexpr int stack_a_level = 6; ///< slots that a level of nesting takes

[[noreturn]] void raise(lua_State* lua, const std::string& what) {
  lua_pushlstring(lua, what.data(), what.size());
  lua_error(lua);
  std::abort(); // lua_error does not return
}

void need_stack(lua_State* lua) { luaL_checkstack(lua, stack_a_level, "values nested too deeply"); }

// ---- to Lua ---------------------------------------------------------------------------------

void push_text(lua_State* lua, std::string_view text) {
  lua_pushlstring(lua, text.data(), text.size());
}

void push_nanos(lua_State* lua, int128 nanos) {
  if (nanos > std::numeric_limits<std::int64_t>::max() ||
      nanos < std::numeric_limits<std::int64_t>::min())
    raise(lua, "a TIMESTAMP of more than 3 digits is too far from 1970 for nanoseconds");
  lua_pushinteger(lua, static_cast<lua_Integer>(nanos));
}

void push_list(lua_State* lua, const column& from, std::size_t row) {
  const auto* offsets = from.values<std::int32_t>();
  const auto begin = static_cast<std::size_t>(offsets[row]);
  const auto end = static_cast<std::size_t>(offsets[row + 1]);
  lua_createtable(lua, static_cast<int>(end - begin), 1);
  for (auto i = begin; i < end; ++i) {
    push_value(lua, from.child(0), i);
    lua_rawseti(lua, -2, static_cast<lua_Integer>(i - begin + 1));
  }
  lua_pushinteger(lua, static_cast<lua_Integer>(end - begin));
  lua_setfield(lua, -2, "n");
}

void push_map(lua_State* lua, const column& from, std::size_t row) {
  const auto* offsets = from.values<std::int32_t>();
  const auto begin = static_cast<std::size_t>(offsets[row]);
  const auto end = static_cast<std::size_t>(offsets[row + 1]);
  lua_createtable(lua, 0, static_cast<int>(end - begin));
  for (auto i = begin; i < end; ++i) {
    if (from.child(0).is_null(i))
      continue; // no key of a table
    push_value(lua, from.child(0), i);
    push_value(lua, from.child(1), i);
    lua_rawset(lua, -3);
  }
}

void push_row(lua_State* lua, const column& from, std::size_t row) {
  const auto& fields = from.type().fields();
  lua_createtable(lua, 0, static_cast<int>(fields.size()));
  for (std::size_t i = 0; i < fields.size(); ++i) {
    push_value(lua, from.child(i), row);
    lua_setfield(lua, -2, fields[i].name.c_str());
  }
}

// ---- from Lua -------------------------------------------------------------------------------

[[noreturn]] void refuse(lua_State* lua, int index, const logical_type& type) {
  std::string given = luaL_typename(lua, index);
  if (lua_type(lua, index) == LUA_TSTRING || lua_type(lua, index) == LUA_TNUMBER) {
    lua_pushvalue(lua, index);
    std::size_t size = 0;
    const char* text = lua_tolstring(lua, -1, &size);
    constexpr std::size_t shown_max = 60;
    given += " " + std::string(text, std::min(size, shown_max));
    lua_pop(lua, 1);
  }
  raise(lua, "gave a " + given + " for " + type.nullable().to_sql());
}

template <class T>
T integer_at(lua_State* lua, int index, const logical_type& type) {
  int is_number = 0;
  const auto number =
      lua_type(lua, index) == LUA_TNUMBER ? lua_tointegerx(lua, index, &is_number) : 0;
  if (is_number == 0 || number < std::numeric_limits<T>::min() ||
      number > std::numeric_limits<T>::max())
    refuse(lua, index, type);
  return static_cast<T>(number);
}

double real_at(lua_State* lua, int index, const logical_type& type) {
  if (lua_type(lua, index) != LUA_TNUMBER)
    refuse(lua, index, type);
  return lua_tonumber(lua, index);
}

std::string_view text_at(lua_State* lua, int index) {
  std::size_t size = 0;
  const char* text = lua_tolstring(lua, index, &size);
  return {text, size};
}

bool is_text(lua_State* lua, int index) { return lua_type(lua, index) == LUA_TSTRING; }

int128 decimal_at(lua_State* lua, int index, const logical_type& type) {
  std::string text;
  if (is_text(lua, index)) {
    text = std::string(text_at(lua, index));
  } else if (lua_isinteger(lua, index) != 0) {
    append_integer(lua_tointeger(lua, index), text);
  } else if (lua_type(lua, index) == LUA_TNUMBER) {
    append_double(lua_tonumber(lua, index), text);
  }
  const auto value = parse_decimal(text, type.precision(), type.scale());
  if (!value)
    refuse(lua, index, type);
  return *value;
}

/// A number, or a text as CAST reads it.
void append_time(lua_State* lua, int index, const logical_type& type, column_builder& to) {
  const bool has_text = is_text(lua, index);
  const auto text = has_text ? text_at(lua, index) : std::string_view();
  const auto take = [&](const auto& value) {
    if (!value)
      refuse(lua, index, type);
    to.append(*value);
  };
  switch (type.root()) {
  case type_root::date:
    return has_text ? take(parse_date(text))
                    : to.append(integer_at<std::int32_t>(lua, index, type));
  case type_root::time:
    return has_text ? take(parse_time(text))
                    : to.append(integer_at<std::int32_t>(lua, index, type));
  default:
    break;
  }
  std::optional<int128> value;
  if (has_text) {
    const auto parsed = parse_timestamp(text);
    if (parsed && !parsed->offset_seconds)
      value = to_timestamp_value(*parsed, type.precision());
  } else {
    value = integer_at<std::int64_t>(lua, index, type);
  }
  if (!value)
    refuse(lua, index, type);
  if (type.physical() == physical_type::int64)
    to.append(static_cast<std::int64_t>(*value));
  else
    to.append(*value);
}

std::size_t code_points(std::string_view text) {
  std::size_t out = 0;
  for (const char byte : text)
    out += (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U ? 1U : 0U;
  return out;
}

void append_text(lua_State* lua, int index, const logical_type& type, column_builder& to) {
  if (lua_type(lua, index) != LUA_TSTRING && lua_type(lua, index) != LUA_TNUMBER)
    refuse(lua, index, type);
  lua_pushvalue(lua, index); // a number is changed by what reads it as a text
  const auto text = text_at(lua, -1);
  const bool is_binary = type.root() == type_root::binary || type.root() == type_root::varbinary;
  if ((is_binary ? text.size() : code_points(text)) > static_cast<std::size_t>(type.precision()))
    raise(lua, "gave a text that is longer than " + type.nullable().to_sql());
  to.append_string(text);
  lua_pop(lua, 1);
}

void append_list(lua_State* lua, int index, column_builder& to) {
  lua_getfield(lua, index, "n");
  const auto count = lua_isinteger(lua, -1) != 0 ? lua_tointeger(lua, -1)
                                                 : static_cast<lua_Integer>(lua_rawlen(lua, index));
  lua_pop(lua, 1);
  to.begin_list();
  for (lua_Integer i = 1; i <= count; ++i) {
    lua_rawgeti(lua, index, i);
    append_value(lua, -1, to.child(0));
    lua_pop(lua, 1);
  }
  to.end_list();
}

void append_map(lua_State* lua, int index, column_builder& to) {
  to.begin_list();
  for (lua_pushnil(lua); lua_next(lua, index) != 0; lua_pop(lua, 1)) {
    append_value(lua, -2, to.child(0));
    append_value(lua, -1, to.child(1));
  }
  to.end_list();
}

void append_row(lua_State* lua, int index, const logical_type& type, column_builder& to) {
  const auto& fields = type.fields();
  const bool is_list = lua_rawlen(lua, index) > 0;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (is_list)
      lua_rawgeti(lua, index, static_cast<lua_Integer>(i + 1));
    else
      lua_getfield(lua, index, fields[i].name.c_str());
    append_value(lua, -1, to.child(i));
    lua_pop(lua, 1);
  }
  to.end_row();
}

// ---- packed ---------------------------------------------------------------------------------

enum class tag : std::uint8_t { nil, no, yes, integer, real, text, table };

void pack(lua_State* lua, int index, byte_writer& out, int depth) {
  if (depth > depth_max)
    raise(lua, "the value kept of a group is nested too deeply, or contains itself");
  need_stack(lua);
  switch (lua_type(lua, index)) {
  case LUA_TNIL:
    return out.put(tag::nil);
  case LUA_TBOOLEAN:
    return out.put(lua_toboolean(lua, index) != 0 ? tag::yes : tag::no);
  case LUA_TNUMBER:
    if (lua_isinteger(lua, index) != 0) {
      out.put(tag::integer);
      out.put(static_cast<std::int64_t>(lua_tointeger(lua, index)));
    } else {
      out.put(tag::real);
      out.put(lua_tonumber(lua, index));
    }
    return;
  case LUA_TSTRING:
    out.put(tag::text);
    return out.put_bytes(text_at(lua, index));
  case LUA_TTABLE:
    break;
  default:
    raise(lua, std::string("what is kept of a group is no value of SQL: a ") +
                   luaL_typename(lua, index));
  }
  std::uint64_t count = 0;
  for (lua_pushnil(lua); lua_next(lua, index) != 0; lua_pop(lua, 1))
    ++count;
  out.put(tag::table);
  out.put_varint(count);
  for (lua_pushnil(lua); lua_next(lua, index) != 0; lua_pop(lua, 1)) {
    const int value = lua_gettop(lua);
    pack(lua, value - 1, out, depth + 1);
    pack(lua, value, out, depth + 1);
  }
}

[[noreturn]] void broken(lua_State* lua) { raise(lua, "the state of a group is malformed"); }

void unpack(lua_State* lua, byte_reader& from, int depth) {
  if (depth > depth_max)
    broken(lua);
  need_stack(lua);
  const auto kind = from.get<std::uint8_t>();
  if (!kind || *kind > static_cast<std::uint8_t>(tag::table))
    broken(lua);
  switch (static_cast<tag>(*kind)) {
  case tag::nil:
    return lua_pushnil(lua);
  case tag::no:
  case tag::yes:
    return lua_pushboolean(lua, static_cast<tag>(*kind) == tag::yes ? 1 : 0);
  case tag::integer: {
    const auto value = from.get<std::int64_t>();
    return value ? lua_pushinteger(lua, *value) : broken(lua);
  }
  case tag::real: {
    const auto value = from.get<double>();
    return value ? lua_pushnumber(lua, *value) : broken(lua);
  }
  case tag::text: {
    const auto value = from.get_bytes();
    return value ? push_text(lua, *value) : broken(lua);
  }
  case tag::table:
    break;
  }
  const auto count = from.get_varint();
  if (!count)
    broken(lua);
  lua_newtable(lua);
  for (std::uint64_t i = 0; i < *count; ++i) {
    unpack(lua, from, depth + 1);
    unpack(lua, from, depth + 1);
    if (lua_isnil(lua, -2))
      broken(lua);
    lua_rawset(lua, -3);
  }
}

} // namespace

void push_value(lua_State* lua, const column& from, std::size_t row) {
  need_stack(lua);
  if (from.is_null(row) || from.type().root() == type_root::null)
    return lua_pushnil(lua);
  const auto integer = [&](std::int64_t value) { lua_pushinteger(lua, value); };
  switch (from.type().physical()) {
  case physical_type::boolean:
    return lua_pushboolean(lua, from.values<std::uint8_t>()[row]);
  case physical_type::int8:
    return integer(from.values<std::int8_t>()[row]);
  case physical_type::int16:
    return integer(from.values<std::int16_t>()[row]);
  case physical_type::int32:
    return integer(from.values<std::int32_t>()[row]);
  case physical_type::int64:
    return integer(from.values<std::int64_t>()[row]);
  case physical_type::int128: {
    std::string text;
    append_decimal(from.values<int128>()[row], from.type().scale(), text);
    return push_text(lua, text);
  }
  case physical_type::timestamp_nanos:
    return push_nanos(lua, from.values<int128>()[row]);
  case physical_type::float32:
    return lua_pushnumber(lua, static_cast<double>(from.values<float>()[row]));
  case physical_type::float64:
    return lua_pushnumber(lua, from.values<double>()[row]);
  case physical_type::string:
    return push_text(lua, from.string_at(row));
  case physical_type::list:
    return push_list(lua, from, row);
  case physical_type::map:
    return push_map(lua, from, row);
  case physical_type::row:
    return push_row(lua, from, row);
  case physical_type::none:
    break;
  }
  lua_pushnil(lua);
}

void append_value(lua_State* lua, int index, column_builder& to) {
  need_stack(lua);
  index = lua_absindex(lua, index);
  const auto& type = to.type();
  if (lua_isnoneornil(lua, index)) {
    if (!type.is_nullable())
      raise(lua, "gave nil for " + type.to_sql());
    return to.append_null();
  }
  switch (type.root()) {
  case type_root::boolean:
    if (!lua_isboolean(lua, index))
      refuse(lua, index, type);
    return to.append(static_cast<std::uint8_t>(lua_toboolean(lua, index)));
  case type_root::tinyint:
    return to.append(integer_at<std::int8_t>(lua, index, type));
  case type_root::smallint:
    return to.append(integer_at<std::int16_t>(lua, index, type));
  case type_root::integer:
  case type_root::interval_year_month:
    return to.append(integer_at<std::int32_t>(lua, index, type));
  case type_root::bigint:
  case type_root::interval_day_time:
    return to.append(integer_at<std::int64_t>(lua, index, type));
  case type_root::float_:
    return to.append(static_cast<float>(real_at(lua, index, type)));
  case type_root::double_:
    return to.append(real_at(lua, index, type));
  case type_root::decimal:
    return to.append(decimal_at(lua, index, type));
  case type_root::character:
  case type_root::varchar:
  case type_root::binary:
  case type_root::varbinary:
    return append_text(lua, index, type, to);
  case type_root::date:
  case type_root::time:
  case type_root::timestamp:
  case type_root::timestamp_ltz:
    return append_time(lua, index, type, to);
  case type_root::array:
  case type_root::map:
  case type_root::multiset:
  case type_root::row:
    break;
  case type_root::null:
    refuse(lua, index, type);
  }
  if (!lua_istable(lua, index))
    refuse(lua, index, type);
  if (type.root() == type_root::array)
    append_list(lua, index, to);
  else if (type.root() == type_root::row)
    append_row(lua, index, type, to);
  else
    append_map(lua, index, to);
}

void pack_value(lua_State* lua, int index, byte_string& out) {
  out.clear();
  byte_writer writer(out);
  pack(lua, lua_absindex(lua, index), writer, 0);
}

void push_packed(lua_State* lua, byte_view from) {
  byte_reader reader(from);
  unpack(lua, reader, 0);
}

} // namespace headrace::graph
