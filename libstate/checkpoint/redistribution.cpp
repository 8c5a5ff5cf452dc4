#include "libstate/checkpoint/redistribution.hpp"

#include "libactors/base/text.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

namespace headrace::state {

namespace {

using mode = operator_state_handle::mode;

/// Key groups: each new subtask gets the handles whose range meets its own.
void assign_keyed(const operator_state& stored, std::vector<operator_subtask_state>& to) {
  const auto parallelism = static_cast<std::int32_t>(to.size());
  for (std::int32_t subtask = 0; subtask < parallelism; ++subtask) {
    const auto groups = graph::key_groups_of(subtask, stored.max_parallelism, parallelism);
    auto& into = to[static_cast<std::size_t>(subtask)];
    for (const auto& [from, state] : stored.subtasks) {
      for (const auto& handle : state.keyed) {
        if (!intersection(handle.groups, groups).is_empty())
          into.keyed.push_back(handle);
      }
      for (const auto& handle : state.raw_keyed) {
        if (!intersection(handle.groups, groups).is_empty())
          into.raw_keyed.push_back(handle);
      }
    }
  }
}

/// In-flight data: what waited at a subtask, or was sent by it, goes to one of the new ones, but
/// for rows by key, which go where their key groups do; who restores finds out which they are.
void assign_in_flight(const operator_state& stored, std::vector<operator_subtask_state>& to) {
  const auto parallelism = static_cast<std::int32_t>(to.size());
  for (std::int32_t subtask = 0; subtask < parallelism; ++subtask) {
    const auto groups = graph::key_groups_of(subtask, stored.max_parallelism, parallelism);
    for (const auto& [from, state] : stored.subtasks) {
      const auto had = graph::key_groups_of(from, stored.max_parallelism, stored.parallelism);
      if (from % parallelism != subtask && intersection(had, groups).is_empty())
        continue;
      for (const auto& handle : state.channels)
        to[static_cast<std::size_t>(subtask)].channels.push_back({handle.segment, from});
    }
  }
}

bool is_keyed(const operator_state& stored) {
  return std::any_of(stored.subtasks.begin(), stored.subtasks.end(), [](const auto& one) {
    return !one.second.keyed.empty() || !one.second.raw_keyed.empty();
  });
}

/// Event time: its own where each subtask gets the rows that it would have got; else the least of
/// those whose rows may come to it, which are those of its key groups, or all where rows do not go
/// by key.
void assign_watermarks(const operator_state& stored, bool is_same,
                       std::vector<operator_subtask_state>& to) {
  const auto parallelism = static_cast<std::int32_t>(to.size());
  const bool goes_by_key = is_keyed(stored);
  for (std::int32_t subtask = 0; subtask < parallelism; ++subtask) {
    const auto groups = graph::key_groups_of(subtask, stored.max_parallelism, parallelism);
    auto least = std::numeric_limits<std::int64_t>::max();
    bool is_known = true;
    for (std::int32_t from = 0; from < stored.parallelism; ++from) {
      const auto had = graph::key_groups_of(from, stored.max_parallelism, stored.parallelism);
      if (is_same ? from != subtask : goes_by_key && intersection(had, groups).is_empty())
        continue;
      const auto found = stored.subtasks.find(from);
      if (found == stored.subtasks.end() || !found->second.watermark_ms)
        is_known = false;
      else
        least = std::min(least, *found->second.watermark_ms);
    }
    to[static_cast<std::size_t>(subtask)].watermark_ms =
        is_known ? std::optional(least) : std::nullopt;
  }
}

/// Deals the lists of one kind of operator state out. At the same parallelism all but unions stay
/// with their subtasks: where only some of them start again, what others hold is not dealt.
class list_dealer {
public:
  list_dealer(std::vector<operator_subtask_state>& to,
              std::vector<operator_state_handle> operator_subtask_state::*which, bool is_same)
      : to_(&to), which_(which), is_same_(is_same) {}

  void deal(const operator_state& stored) {
    for (const auto& [from, state] : stored.subtasks) {
      for (const auto& handle : state.*which_) {
        for (const auto& list : handle.lists)
          deal_list(from, handle, list);
      }
    }
  }

private:
  void deal_list(std::int32_t from, const operator_state_handle& handle,
                 const operator_state_handle::list& list) {
    if (is_same_ && list.how != mode::union_) {
      list_in((*to_)[static_cast<std::size_t>(from)], handle, list);
      return;
    }
    if (list.how == mode::broadcast && !broadcast_seen_.insert(list.name).second)
      return; // each subtask had the same: one copy is enough
    if (list.how == mode::broadcast || list.how == mode::union_) {
      for (auto& subtask : *to_)
        list_in(subtask, handle, list);
      return;
    }
    if (list.elements.empty())
      list_in((*to_)[0], handle, list);
    // Element by element, going on where the list's last subtask ended, so that loads stay even.
    auto& next = next_[list.name];
    for (const auto& element : list.elements) {
      list_in((*to_)[next], handle, {list.name, list.how, {element}});
      next = (next + 1) % to_->size();
    }
  }

  /// Adds elements to a subtask's handle over the same segment, or makes that.
  void list_in(operator_subtask_state& subtask, const operator_state_handle& from,
               const operator_state_handle::list& list) {
    auto& handles = subtask.*which_;
    if (handles.empty() || handles.back().segment != from.segment)
      handles.push_back({from.segment, {}});
    auto& lists = handles.back().lists;
    if (lists.empty() || lists.back().name != list.name || lists.back().how != list.how)
      lists.push_back({list.name, list.how, {}});
    auto& elements = lists.back().elements;
    elements.insert(elements.end(), list.elements.begin(), list.elements.end());
  }

  std::vector<operator_subtask_state>* to_;
  std::vector<operator_state_handle> operator_subtask_state::*which_;
  bool is_same_;
  std::map<std::string, std::size_t> next_;
  std::set<std::string> broadcast_seen_;
};

bool has_union(const std::vector<operator_state_handle>& handles) {
  for (const auto& handle : handles) {
    for (const auto& list : handle.lists) {
      if (list.how == mode::union_)
        return true;
    }
  }
  return false;
}

/// At the same parallelism each subtask restores just what it stored, unions excepted.
bool can_stay(const operator_state& stored) {
  for (const auto& [subtask, state] : stored.subtasks) {
    if (has_union(state.managed) || has_union(state.raw_operator))
      return false;
  }
  return true;
}

/// Whether an operator runs with another parallelism than before. Then in-flight data of all is
/// dealt out anew, for the other end of its edge may be that operator.
bool is_rescaled(const completed_checkpoint& from, const std::vector<restored_operator>& job) {
  return std::any_of(job.begin(), job.end(), [&](const restored_operator& wanted) {
    const auto stored = from.operators.find(wanted.id);
    return stored != from.operators.end() && stored->second.parallelism != wanted.parallelism;
  });
}

std::string words_of(const std::string& uid, const std::string& name, const operator_id& id) {
  return "`" + name + "` (" + (uid.empty() ? "no uid" : "uid `" + uid + "`") + ", id " +
         to_string(id) + ")";
}

status check_max_parallelism(const restored_operator& wanted, const operator_state& stored) {
  if (wanted.parallelism > stored.max_parallelism)
    return error(errc::incompatible_state,
                 "parallelism is above the max parallelism of the restored state: operator " +
                     words_of(wanted.uid, wanted.name, wanted.id) + ", " +
                     std::to_string(wanted.parallelism) + " above " +
                     std::to_string(stored.max_parallelism));
  if (wanted.max_parallelism_is_fixed && wanted.max_parallelism != stored.max_parallelism)
    return error(errc::incompatible_state,
                 "max parallelism cannot change with the restored state: operator " +
                     words_of(wanted.uid, wanted.name, wanted.id) + ", was " +
                     std::to_string(stored.max_parallelism) + ", is " +
                     std::to_string(wanted.max_parallelism) + "; set it to " +
                     std::to_string(stored.max_parallelism) + ", or leave it out");
  return {};
}

} // namespace

std::vector<operator_subtask_state>
redistribute(const operator_state& stored, std::int32_t parallelism, bool rescales_in_flight) {
  HEADRACE_ASSERT(parallelism >= 1 && parallelism <= stored.max_parallelism,
                  "parallelism is within the key groups");
  std::vector<operator_subtask_state> out(static_cast<std::size_t>(parallelism));
  const bool is_same = parallelism == stored.parallelism;
  if (is_same && can_stay(stored)) {
    for (const auto& [subtask, state] : stored.subtasks)
      out[static_cast<std::size_t>(subtask)] = state;
  } else {
    assign_keyed(stored, out);
    list_dealer(out, &operator_subtask_state::managed, is_same).deal(stored);
    list_dealer(out, &operator_subtask_state::raw_operator, is_same).deal(stored);
  }
  assign_watermarks(stored, is_same && !rescales_in_flight, out);
  for (auto& one : out)
    one.channels.clear();
  if (!is_same || rescales_in_flight) {
    assign_in_flight(stored, out);
    return out;
  }
  for (const auto& [subtask, state] : stored.subtasks)
    out[static_cast<std::size_t>(subtask)].channels = state.channels;
  return out;
}

result<restore_assignment> assign_states(const completed_checkpoint& from,
                                         const std::vector<restored_operator>& job,
                                         bool allow_non_restored_state) {
  restore_assignment out;
  const bool rescales = is_rescaled(from, job);
  for (const auto& wanted : job) {
    auto& assigned = out.operators[wanted.id];
    assigned.max_parallelism = wanted.max_parallelism;
    const auto found = from.operators.find(wanted.id);
    if (found == from.operators.end()) {
      assigned.subtasks.resize(static_cast<std::size_t>(wanted.parallelism));
      continue;
    }
    const auto& stored = found->second;
    HEADRACE_CHECK(check_max_parallelism(wanted, stored));
    assigned.max_parallelism = stored.max_parallelism;
    assigned.subtasks = redistribute(stored, wanted.parallelism, rescales);
    assigned.coordinator = stored.coordinator;
    assigned.has_coordinator = stored.has_coordinator;
  }
  for (const auto& [id, stored] : from.operators)
    if (stored.has_state() && !out.operators.contains(id))
      out.left_out.push_back(words_of(stored.uid, stored.name, id));
  if (allow_non_restored_state || out.left_out.empty())
    return out;
  return error(errc::incompatible_state,
               "checkpoint has state of operators that the job has not: " +
                   join_text(out.left_out, ", ") + ", in " + from.directory +
                   "; operators without a uid, as those of SQL, are found by their place: go on "
                   "with the query that it was taken with, or let --allow-non-restored-state drop "
                   "all of it; operators of the same name in the job then begin anew");
}

} // namespace headrace::state
