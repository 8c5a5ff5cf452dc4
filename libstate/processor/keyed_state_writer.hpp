#pragma once

#include "libstate/handle/state_handle.hpp"
#include "libstate/key/key_batch.hpp"
#include "libstate/keyed/state_description.hpp"
#include "libstate/storage/state_stream.hpp"
#include "libgraph/data/batch_builder.hpp"
#include "libgraph/types/logical_type.hpp"
#include "libactors/base/result.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace headrace::processor {

/// Gathers the keyed state of one operator in memory, then writes it in the canonical form. The
/// untyped side of `keyed_operator_writer`: keys come as rows of a batch, values encoded. One
/// thread.
class keyed_state_writer {
public:
  /// @param key_type  a row of the key columns
  keyed_state_writer(graph::row_type_ptr key_type, std::int32_t max_parallelism);

  /// Adds a state. @returns its number
  /// @errors incompatible_state  there is one of that name, and it is another
  result<std::uint32_t> declare(state::state_description description);

  /// Where the key of the next `put` or `append` is written, column by column.
  graph::batch_builder& key() { return builder_; }
  /// Replaces the value of the key, or of its map entry. @errors malformed_message
  status put(std::uint32_t state, byte_string entry_key, byte_string value);
  /// Appends an element to the key's list.
  status append(std::uint32_t state, byte_view element);

  /// Writes all into `out`. Nothing may be added behind that. @errors storage_failed, storage_full
  result<state::keyed_state_handle> write(state::state_output& out);

private:
  struct waiting_value {
    std::uint32_t state;
    bool appends;
    byte_string entry_key;
    byte_string value;
  };
  /// Key group, state, whether the key is not NULL, key, entry key: the order of a snapshot.
  using place = std::tuple<std::int32_t, std::uint32_t, bool, byte_string, byte_string>;
  status add(waiting_value what);
  status settle();

  std::int32_t max_parallelism_;
  state::key_schema schema_;
  graph::batch_builder builder_;
  std::vector<waiting_value> waiting_; // a row of the builder each
  std::vector<state::state_description> states_;
  std::map<place, byte_string> values_;
};

} // namespace headrace::processor
