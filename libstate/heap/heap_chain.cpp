#include "libstate/heap/heap_chain.hpp"

#include <optional>
#include <set>
#include <string_view>

namespace headrace::state {

namespace {

/// How many rows are to be written: of those that are there, about.
std::uint64_t count(const change_set& changed, const heap_chain::directory_rows& rows) {
  std::uint64_t out = 0;
  for (const auto& [directory, of] : changed) {
    if (const auto found = rows.find(directory); found != rows.end())
      out += of.is_all() ? found->second : of.size();
  }
  return out;
}

void merge_marks(change_set& into, const heap_chain::taken_marks& marks) {
  for (const auto& [directory, of] : marks) {
    if (auto rows = row_set::of(of); !rows.is_empty())
      into[directory].merge(rows);
  }
}

} // namespace

std::uint64_t heap_chain::take(taken_marks marks) {
  const std::lock_guard lock(mutex_);
  pending_[++taken_].marks = std::move(marks);
  return taken_;
}

void heap_chain::let_go(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  if (const auto found = pending_.find(number); found != pending_.end())
    found->second.is_let_go = true;
  merge_abandoned();
}

/// Keeps few sets however many snapshots fail.
void heap_chain::merge_abandoned() {
  for (auto at = pending_.begin(); at != pending_.end() && at->second.is_let_go;) {
    merge_marks(abandoned_, at->second.marks);
    at = pending_.erase(at);
  }
}

change_set heap_chain::changes_up_to(std::uint64_t number) {
  change_set out = abandoned_;
  for (auto at = pending_.begin(); at != pending_.end() && at->first <= number; ++at)
    merge_marks(out, at->second.marks);
  return out;
}

heap_chain::order heap_chain::plan(std::uint64_t number, const directory_rows& rows,
                                   checkpoint_id checkpoint, const snapshot_target& target) {
  const std::lock_guard lock(mutex_);
  order out;
  for (const auto& [directory, of] : rows)
    out.rows += of;
  const auto all = out.rows;
  out.is_whole = true;
  out.is_apart = number < newest_;
  if (out.is_apart || chain_.empty())
    return out;
  auto changed = changes_up_to(number);
  std::vector<std::uint64_t> chain;
  for (const auto& one : chain_)
    chain.push_back(one.rows);
  const auto wanted = plan_increment(chain, count(changed, rows), all);
  if (wanted.is_whole)
    return out;
  const auto kept = chain_.size() - wanted.absorbed;
  for (std::size_t i = 0; i < kept; ++i) {
    auto file = files_.use(chain_[i].name, checkpoint, target);
    if (!file) { // a savepoint stands alone
      out.behind.clear();
      return out;
    }
    out.behind.push_back({*std::move(file), chain_[i].rows});
  }
  for (auto i = kept; i < chain_.size(); ++i)
    merge(changed, chain_[i].changed);
  out.is_whole = false;
  out.absorbed = wanted.absorbed;
  out.rows = count(changed, rows);
  out.changed = std::move(changed);
  return out;
}

status heap_chain::written(std::uint64_t number, checkpoint_id checkpoint, order what,
                           shared_files::stored file, file_system& files) {
  const std::lock_guard lock(mutex_);
  element made{file.file.name, std::move(what.changed), what.rows};
  files_.add(std::move(file), checkpoint);
  if (what.is_apart)
    return {};
  if (what.is_whole)
    chain_.clear();
  else
    chain_.resize(chain_.size() - what.absorbed);
  chain_.push_back(std::move(made));
  newest_ = number;
  abandoned_.clear();
  pending_.erase(pending_.begin(), pending_.upper_bound(number));
  std::set<std::string_view> named;
  for (const auto& one : chain_)
    named.insert(one.name);
  return files_.keep_only(named, files);
}

void heap_chain::adopt(std::vector<stored_element> chain, std::vector<change_set> changed) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < chain.size(); ++i) {
    chain_.push_back({chain[i].stored.file.name, std::move(changed[i]), chain[i].rows});
    files_.adopt(std::move(chain[i].stored));
  }
}

} // namespace headrace::state
