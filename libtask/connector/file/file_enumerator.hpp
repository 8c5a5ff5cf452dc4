#pragma once

#include "libtask/connector/file/file_split.hpp"
#include "libgraph/connector/source.hpp"

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace headrace::task {

/// Who reads which split.
enum class split_assignment : std::uint8_t {
  on_request, ///< the next split to whoever asks: work is shared
  fixed,      ///< split i to reader i modulo their number: the same each time
  in_order,   ///< one file after the other, in the order in which sinks wrote them: none is given
              ///< while another one is read
};

/// What a file source reads.
struct file_input {
  std::string path;
  bool recursive = true;
  std::optional<std::uint64_t> split_bytes; ///< none: derived from sizes and readers
  bool splittable = true;
  split_assignment assignment = split_assignment::on_request;
  /// Small splits that a reader gets for one request; each request is a round trip.
  std::size_t splits_at_once_max = 64;
  std::chrono::milliseconds monitor_interval{0}; ///< 0: what is there at the start, then the end
};

/// Finds the splits of a file source and hands them to the readers: in the order of their
/// paths, files of changes in that in which they were written.
/// Lives in the source coordinator's turns; discovery alone runs on the executor.
class file_enumerator final : public graph::split_enumerator {
public:
  static result<std::unique_ptr<graph::split_enumerator>>
  create(file_input input, graph::enumerator_context& context,
         const std::optional<byte_string>& restored);

  status start() override;
  status add_reader(std::int32_t reader) override;
  status handle_split_request(std::int32_t reader) override;
  status add_splits_back(std::vector<graph::source_split> splits, std::int32_t reader) override;
  result<byte_string> snapshot(checkpoint_id checkpoint) override;

private:
  struct numbered_split {
    std::uint64_t number = 0;
    graph::source_split split;
  };

  file_enumerator(file_input input, graph::enumerator_context& context)
      : input_(std::move(input)), context_(context) {}
  status restore(byte_view state);
  /// @errors incompatible_state  what was read is not of the input's path
  status check_paths() const;
  status on_discovered(result<std::vector<graph::source_split>> discovered);
  void serve_waiting();
  void serve_in_order();
  void end_waiting();
  void assign_to(std::int32_t reader);
  std::vector<graph::source_split> take_shared();
  std::vector<graph::source_split> take_own(std::int32_t reader);
  bool is_finite() const { return input_.monitor_interval.count() == 0; }

  file_input input_;
  graph::enumerator_context& context_;
  bool discovered_ = false;
  std::uint64_t next_number_ = 0;
  std::deque<numbered_split> unassigned_;                             ///< ascending numbers
  std::map<std::int32_t, std::vector<graph::source_split>> returned_; ///< fixed: whose they were
  std::deque<std::int32_t> waiting_; ///< asked and got nothing yet; who asked first comes first
  std::set<std::int32_t> ended_;     ///< were told that nothing follows
  /// Also when files are not watched for: a job that restores the state may do so.
  std::set<std::string> seen_paths_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

} // namespace headrace::task
