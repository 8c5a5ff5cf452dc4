#include "libstate/keyed/value_migration.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace headrace::state {

namespace {

using graph::logical_type;
using graph::type_root;

/// Where integers stand in the order of their widths; -1: no integer.
int integer_rank(const logical_type& type) {
  switch (type.root()) {
  case type_root::tinyint:
    return 0;
  case type_root::smallint:
    return 1;
  case type_root::integer:
    return 2;
  case type_root::bigint:
    return 3;
  default:
    return -1;
  }
}

bool is_list(const logical_type& type) {
  return type.root() == type_root::array || type.root() == type_root::map ||
         type.root() == type_root::multiset;
}

/// Whether each value of one number type is one of the other, too.
bool is_widened(const logical_type& from, const logical_type& to) {
  const auto rank = integer_rank(from);
  if (rank >= 0 && integer_rank(to) >= rank)
    return true;
  if (to.root() == type_root::double_)
    return from.root() == type_root::float_ || (rank >= 0 && rank <= 2);
  if (from.root() == type_root::decimal && to.root() == type_root::decimal)
    return to.scale() >= from.scale() &&
           to.precision() - to.scale() >= from.precision() - from.scale();
  return false;
}

std::string name_of(const logical_type::field& field, std::size_t index) {
  return field.name.empty() ? std::to_string(index) : field.name;
}

/// Says where values of one type cannot become the other; empty: they can.
std::string first_obstacle(const logical_type& from, const logical_type& to,
                           const std::string& path) {
  if (from.is_nullable() && !to.is_nullable())
    return path + ": may have been NULL, is NOT NULL";
  if (from.not_null() == to.not_null() || is_widened(from, to))
    return {};
  const auto differs = path + ": was " + from.to_sql() + ", is " + to.to_sql();
  if (from.root() != to.root())
    return differs;
  if (from.root() == type_root::row) {
    for (std::size_t i = 0; i < to.fields().size(); ++i) {
      const auto& field = to.fields()[i];
      const auto before = from.field_index(field.name);
      if (before < 0)
        continue; // added
      auto found = first_obstacle(from.fields()[static_cast<std::size_t>(before)].type, field.type,
                                  path + "." + name_of(field, i));
      if (!found.empty())
        return found;
    }
    return {};
  }
  if (!is_list(from))
    return differs;
  const bool is_map = from.root() == type_root::map;
  if (is_map && from.child(0) != to.child(0))
    return path + " key: was " + from.child(0).to_sql() + ", is " + to.child(0).to_sql();
  const auto element = is_map ? 1U : 0U;
  return first_obstacle(from.child(element), to.child(element), path + (is_map ? " value" : "[]"));
}

/// Rewrites one value, in the order of its bytes.
class rewriter {
public:
  explicit rewriter(byte_string& out) : text_(out), out_(out) {}

  status rewrite(byte_reader& in, const logical_type& from, const logical_type& to,
                 std::optional<byte_view> defaults) {
    if (from == to)
      return copy(in, from);
    bool is_there = true;
    if (from.is_nullable()) {
      HEADRACE_TRY(const auto flag, in.get<std::uint8_t>());
      is_there = flag != 0;
    }
    if (to.is_nullable()) {
      out_.put(static_cast<std::uint8_t>(is_there));
      if (defaults) { // behind its own flag
        const bool has_default = !defaults->empty() && (*defaults)[0] != 0;
        defaults = has_default ? std::optional(defaults->substr(1)) : std::nullopt;
      }
    }
    if (!is_there)
      return {};
    if (from.not_null() == to.not_null())
      return copy(in, from.not_null());
    if (from.root() == type_root::row)
      return rewrite_row(in, from, to, defaults);
    if (is_list(from))
      return rewrite_list(in, from, to);
    return widen(in, from, to);
  }

private:
  status copy(byte_reader& in, const logical_type& type) {
    byte_reader at = in;
    HEADRACE_CHECK(skip_value(in, type));
    HEADRACE_TRY(const auto raw, at.get_raw(at.remaining() - in.remaining()));
    out_.put_raw(raw);
    return {};
  }

  /// Cuts a row's bytes into those of its fields.
  static result<std::vector<byte_view>> split(byte_reader& in, const logical_type& row) {
    std::vector<byte_view> out;
    for (const auto& field : row.fields()) {
      byte_reader at = in;
      HEADRACE_CHECK(skip_value(in, field.type));
      HEADRACE_TRY(const auto raw, at.get_raw(at.remaining() - in.remaining()));
      out.push_back(raw);
    }
    return out;
  }

  status rewrite_row(byte_reader& in, const logical_type& from, const logical_type& to,
                     std::optional<byte_view> defaults) {
    HEADRACE_TRY(const auto stored, split(in, from));
    std::vector<byte_view> fresh;
    if (defaults) {
      byte_reader of_defaults(*defaults);
      HEADRACE_TRY(fresh, split(of_defaults, to));
    }
    for (std::size_t i = 0; i < to.fields().size(); ++i) {
      const auto& field = to.fields()[i];
      const auto of_field = defaults ? std::optional(fresh[i]) : std::nullopt;
      const auto before = from.field_index(field.name);
      if (before >= 0) {
        const auto index = static_cast<std::size_t>(before);
        byte_reader value(stored[index]);
        HEADRACE_CHECK(rewrite(value, from.fields()[index].type, field.type, of_field));
      } else if (of_field) {
        out_.put_raw(*of_field);
      } else {
        put_zero(field.type);
      }
    }
    return {};
  }

  status rewrite_list(byte_reader& in, const logical_type& from, const logical_type& to) {
    HEADRACE_TRY(const auto count, in.get_varint());
    if (count > in.remaining())
      return error(errc::malformed_message, "impossible number of elements");
    out_.put_varint(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      for (std::size_t child = 0; child < from.storage_child_count(); ++child)
        HEADRACE_CHECK(
            rewrite(in, from.storage_child(child), to.storage_child(child), std::nullopt));
    }
    return {};
  }

  status widen(byte_reader& in, const logical_type& from, const logical_type& to) {
    if (from.root() == type_root::decimal)
      return widen_decimal(in, to.scale() - from.scale());
    if (from.root() == type_root::float_) {
      HEADRACE_TRY(const auto value, in.get<float>());
      out_.put(static_cast<double>(value));
      return {};
    }
    HEADRACE_TRY(const auto value, integer(in, from));
    switch (to.root()) {
    case type_root::double_:
      out_.put(static_cast<double>(value));
      break;
    case type_root::smallint:
      out_.put(static_cast<std::int16_t>(value));
      break;
    case type_root::integer:
      out_.put(static_cast<std::int32_t>(value));
      break;
    default:
      out_.put(value);
    }
    return {};
  }

  static result<std::int64_t> integer(byte_reader& in, const logical_type& type) {
    const auto widened = [](auto read) -> result<std::int64_t> {
      if (!read)
        return std::move(read).error();
      return static_cast<std::int64_t>(*read);
    };
    switch (type.root()) {
    case type_root::tinyint:
      return widened(in.get<std::int8_t>());
    case type_root::smallint:
      return widened(in.get<std::int16_t>());
    default:
      return widened(in.get<std::int32_t>());
    }
  }

  status widen_decimal(byte_reader& in, int more_digits) {
    HEADRACE_TRY(const auto raw, in.get_raw(sizeof(graph::int128)));
    graph::int128 value = 0;
    std::memcpy(&value, raw.data(), sizeof(value));
    for (int i = 0; i < more_digits; ++i)
      value *= 10;
    text_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    return {};
  }

  /// NULL, or zero, or empty.
  void put_zero(const logical_type& type) {
    if (type.is_nullable() || is_list(type) || type.physical() == graph::physical_type::string) {
      out_.put(std::uint8_t{0});
      return;
    }
    if (type.root() == type_root::row) {
      for (const auto& field : type.fields())
        put_zero(field.type);
      return;
    }
    text_.append(static_cast<std::size_t>(type.width_bytes()), '\0');
  }

  byte_string& text_;
  byte_writer out_;
};

} // namespace

status skip_value(byte_reader& in, const logical_type& type) {
  if (type.is_nullable()) {
    HEADRACE_TRY(const auto flag, in.get<std::uint8_t>());
    if (flag == 0)
      return {};
  }
  if (type.root() == type_root::row) {
    for (const auto& field : type.fields())
      HEADRACE_CHECK(skip_value(in, field.type));
    return {};
  }
  if (is_list(type)) {
    HEADRACE_TRY(const auto count, in.get_varint());
    if (count > in.remaining())
      return error(errc::malformed_message, "impossible number of elements");
    for (std::uint64_t i = 0; i < count; ++i) {
      for (std::size_t child = 0; child < type.storage_child_count(); ++child)
        HEADRACE_CHECK(skip_value(in, type.storage_child(child)));
    }
    return {};
  }
  if (type.physical() == graph::physical_type::string) {
    HEADRACE_CHECK(in.get_bytes());
    return {};
  }
  HEADRACE_CHECK(in.get_raw(static_cast<std::size_t>(type.width_bytes())));
  return {};
}

status value_migration::rewrite(byte_view stored, byte_string& out) const {
  out.clear();
  byte_reader in(stored);
  const auto defaults = defaults_.empty() ? std::nullopt : std::optional<byte_view>(defaults_);
  HEADRACE_CHECK(rewriter(out).rewrite(in, from_, to_, defaults));
  return in.at_end() ? status()
                     : error(errc::malformed_message, "bytes behind a value of " + from_.to_sql());
}

status rewrite_elements(byte_view elements, const element_stamps& stamps,
                        const value_migration* migration, byte_string& out) {
  out.clear();
  byte_writer to(out);
  byte_string rewritten;
  byte_reader in(elements);
  while (!in.at_end()) {
    std::int64_t stamp_ms = stamps.now_ms;
    if (stamps.are_there) {
      HEADRACE_TRY(stamp_ms, in.get<std::int64_t>());
    }
    HEADRACE_TRY(auto element, in.get_bytes());
    if (migration != nullptr) {
      HEADRACE_CHECK(migration->rewrite(element, rewritten));
      element = rewritten;
    }
    if (stamps.are_wanted)
      to.put(stamp_ms);
    to.put_bytes(element);
  }
  return {};
}

result<state_fit> check_migratable(const state_description& stored,
                                   const state_description& wanted) {
  auto fits = check_compatible(stored, wanted);
  if (fits)
    return state_fit::as_is;
  const bool is_of_user =
      stored.kind != table_kind::operator_rows && stored.kind != table_kind::timers;
  if (stored.kind != wanted.kind || !is_of_user || stored.entry_key_type != wanted.entry_key_type ||
      stored.layout != wanted.layout || !stored.layout.is_variable() ||
      is_bytes_of_parts(stored.value_type) || is_bytes_of_parts(wanted.value_type))
    return std::move(fits).error();
  const auto obstacle = first_obstacle(stored.value_type, wanted.value_type, "value");
  if (obstacle.empty())
    return state_fit::migrating;
  return error(errc::incompatible_state,
               "state is incompatible with the restored one: `" + wanted.name + "`, " + obstacle);
}

} // namespace headrace::state
