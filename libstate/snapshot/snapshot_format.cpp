#include "libstate/snapshot/snapshot_format.hpp"

#include <algorithm>
#include <memory>

namespace headrace::state {

namespace {

constexpr std::size_t states_max = 65536;

/// Whether keys are stored alike: names do not matter, nor whether a column may be NULL.
bool are_same_keys(const graph::logical_type& stored, const graph::logical_type& wanted) {
  const auto& left = stored.fields();
  const auto& right = wanted.fields();
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const auto& one, const auto& other) {
                      return one.type.nullable() == other.type.nullable();
                    });
}

void encode_description(const state_description& one, byte_writer& out) {
  out.put_bytes(one.name);
  out.put(one.kind);
  one.value_type.encode(out);
  one.entry_key_type.encode(out);
  out.put(static_cast<std::uint32_t>(one.layout.fixed_bytes));
  out.put(one.ttl_ms);
}

result<state_description> decode_description(byte_reader& in) {
  state_description one;
  HEADRACE_TRY(const auto name, in.get_bytes());
  one.name = byte_string(name);
  HEADRACE_TRY(const auto kind, in.get<std::uint8_t>());
  if (kind < 1 || kind > static_cast<std::uint8_t>(table_kind::timers))
    return error(errc::malformed_message, "unknown kind of state: " + std::to_string(kind));
  one.kind = static_cast<table_kind>(kind);
  HEADRACE_TRY(one.value_type, graph::logical_type::decode(in));
  HEADRACE_TRY(one.entry_key_type, graph::logical_type::decode(in));
  HEADRACE_TRY(const auto fixed_bytes, in.get<std::uint32_t>());
  if (fixed_bytes % 8 != 0 || fixed_bytes > value_layout::fixed_bytes_max)
    return error(errc::malformed_message, "impossible layout: " + std::to_string(fixed_bytes));
  one.layout.fixed_bytes = fixed_bytes;
  HEADRACE_TRY(one.ttl_ms, in.get<std::int64_t>());
  return one;
}

} // namespace

error of_another_backend(const std::string& format, const std::string& path) {
  return {errc::incompatible_state, "snapshot is of another backend: " + format + ", in " + path +
                                        "; start the job with -D state.backend.type=" + format +
                                        ", or from a canonical savepoint"};
}

std::vector<bool> have_fixed_keys(const snapshot_header& header) {
  const key_schema key(std::make_shared<const graph::logical_type>(header.key_type));
  std::vector<bool> out;
  for (const auto& each : header.states)
    out.push_back(keys_of(key, each).is_fixed());
  return out;
}

status check_keys(const snapshot_header& stored, const key_schema& key,
                  std::int32_t max_parallelism, const std::string& path) {
  if (!are_same_keys(stored.key_type, *key.type()))
    return error(errc::incompatible_state, "key is of another type than the restored one: was " +
                                               stored.key_type.to_sql() + ", is " +
                                               key.type()->to_sql() + ", in " + path);
  if (stored.max_parallelism != max_parallelism)
    return error(errc::incompatible_state,
                 "snapshot has another max parallelism: " + std::to_string(stored.max_parallelism) +
                     " instead of " + std::to_string(max_parallelism) + ", in " + path);
  return {};
}

void encode(const snapshot_header& header, byte_writer& out) {
  header.key_type.encode(out);
  out.put(header.max_parallelism);
  out.put(header.groups.first);
  out.put(header.groups.end);
  out.put_varint(header.states.size());
  for (const auto& one : header.states)
    encode_description(one, out);
}

result<snapshot_header> decode_snapshot_header(byte_view stored) {
  byte_reader in(stored);
  snapshot_header out;
  HEADRACE_TRY(out.key_type, graph::logical_type::decode(in));
  if (out.key_type.root() != graph::type_root::row || out.key_type.fields().empty())
    return error(errc::malformed_message, "the key is no row: " + out.key_type.to_sql());
  HEADRACE_TRY(out.max_parallelism, in.get<std::int32_t>());
  HEADRACE_TRY(out.groups.first, in.get<std::int32_t>());
  HEADRACE_TRY(out.groups.end, in.get<std::int32_t>());
  if (out.max_parallelism < 1 || out.max_parallelism > graph::max_parallelism_most ||
      out.groups.first < 0 || out.groups.end < out.groups.first ||
      out.groups.end > out.max_parallelism)
    return error(errc::malformed_message, "impossible key groups");
  HEADRACE_TRY(const auto count, in.get_varint());
  if (count > states_max)
    return error(errc::malformed_message, "too many states: " + std::to_string(count));
  for (std::uint64_t i = 0; i < count; ++i) {
    HEADRACE_TRY(auto one, decode_description(in));
    out.states.push_back(std::move(one));
  }
  if (!in.at_end())
    return error(errc::malformed_message, "bytes behind the last state");
  return out;
}

} // namespace headrace::state
