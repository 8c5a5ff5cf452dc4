#pragma once

#include "libstate/keyed/state_description.hpp"
#include "libgraph/types/logical_type.hpp"
#include "libactors/base/bytes.hpp"
#include "libactors/base/result.hpp"

#include <cstdint>
#include <string>

namespace headrace::state {

/// How a restored state is opened.
enum class state_fit : std::uint8_t {
  as_is,     ///< values are stored as they are wanted
  migrating, ///< values are rewritten by a value_migration
};

/// Whether a state stored as `stored` may be opened as `wanted`, also by rewriting its values,
/// which users' states allow: fields of structs are found by their names, so that they may be
/// added, removed and moved; numbers may be widened (integers, FLOAT to DOUBLE, integers of up to
/// 32 bits to DOUBLE, decimals that lose nothing); what was NOT NULL may become nullable. Keys and
/// kinds may not change. TTL may differ.
/// @errors incompatible_state  names the state, and what differs where
result<state_fit> check_migratable(const state_description& stored,
                                   const state_description& wanted);

/// Rewrites the encoded values of a state from one type into another. Pure.
class value_migration {
public:
  /// The types fit: `check_migratable` said so.
  /// @param defaults  an encoded value of type `to`, from which added fields are taken; empty: they
  ///                  are NULL where that may be, else zero or empty
  value_migration(graph::logical_type from, graph::logical_type to, byte_string defaults)
      : from_(std::move(from)), to_(std::move(to)), defaults_(std::move(defaults)) {}

  /// Replaces `out`. @errors malformed_message  the value is none of the stored type
  status rewrite(byte_view stored, byte_string& out) const;

private:
  graph::logical_type from_;
  graph::logical_type to_;
  byte_string defaults_;
};

/// How the elements of a list are stamped: each with the time at which it was added, when it
/// expires.
struct element_stamps {
  bool are_there = false;
  bool are_wanted = false;
  std::int64_t now_ms = 0; ///< for elements that have none
};
/// Rewrites a list's elements (stamp where there is one, varint length, bytes) one by one. Replaces
/// `out`. @param migration  null: only the stamps change. @errors malformed_message
status rewrite_elements(byte_view elements, const element_stamps& stamps,
                        const value_migration* migration, byte_string& out);

/// Goes over one encoded value (as the API's type_info encodes it). @errors malformed_message
status skip_value(byte_reader& in, const graph::logical_type& type);

} // namespace headrace::state
