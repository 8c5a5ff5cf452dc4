#pragma once

#include "libgraph/types/logical_type.hpp"
#include "libactors/base/bytes.hpp"
#include "libactors/base/result.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace headrace::graph {

enum class user_form : std::uint8_t {
  scalar,    ///< a value of a row's values
  table,     ///< rows of a row's values
  aggregate, ///< a value of a group's rows
};
enum class user_language : std::uint8_t { lua, cpp };

/// How much one call of a Lua function may take.
struct lua_limits {
  std::uint64_t memory_bytes = std::uint64_t{64} << 20U; ///< of one subtask's Lua state
  std::uint64_t instructions = 100'000'000;              ///< of one call; 0: any number
  friend bool operator==(const lua_limits&, const lua_limits&) = default;
};

/// A function that a user wrote: all that a task needs to call it. A value.
struct user_function {
  std::string name; ///< as it was made, for errors
  user_form form = user_form::scalar;
  user_language language = user_language::lua;
  bool is_deterministic = true; ///< the same for the same arguments
  bool has_retract = false;     ///< of an aggregate: rows may be taken back
  bool has_merge = false;       ///< of an aggregate: those of two groups may be put together
  std::vector<logical_type::field> parameters;
  logical_type result = logical_type::null(); ///< of a table function the ROW that it gives
  std::string source;                         ///< Lua: the body; C++: the digest of the object
  std::string symbol{};                       ///< C++: what the object calls it
  lua_limits limits{};
  friend bool operator==(const user_function&, const user_function&) = default;
};

/// Bytes of it; what `decode_user_function` gives back is equal.
byte_string encode(const user_function& from);
/// @errors malformed_message
result<user_function> decode_user_function(byte_view in);

} // namespace headrace::graph
