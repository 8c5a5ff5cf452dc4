#pragma once

#include "libgraph/connector/source.hpp"

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace headrace::graph {

/// Hands out splits that are all known at the start: split i to reader i modulo their number. For
/// sources that discover nothing. Lives in the source coordinator's turns.
class fixed_enumerator final : public split_enumerator {
public:
  /// @param splits    when nothing is restored
  /// @param restored  what `snapshot` gave; @errors corrupt_snapshot
  static result<std::unique_ptr<split_enumerator>>
  create(enumerator_context& context, std::vector<source_split> splits,
         const std::optional<byte_string>& restored);

  status start() override { return {}; }
  status add_reader(std::int32_t reader) override;
  status handle_split_request(std::int32_t reader) override { return add_reader(reader); }
  status add_splits_back(std::vector<source_split> splits, std::int32_t reader) override;
  result<byte_string> snapshot(checkpoint_id checkpoint) override;

private:
  struct owned_split {
    std::uint64_t number = 0; ///< decides who gets it
    source_split split;
  };
  explicit fixed_enumerator(enumerator_context& context) : context_(context) {}
  status restore(byte_view state);

  enumerator_context& context_;
  std::vector<owned_split> unassigned_;
};

} // namespace headrace::graph
