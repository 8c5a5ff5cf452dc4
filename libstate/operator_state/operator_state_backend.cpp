#include "libstate/operator_state/operator_state_backend.hpp"

#include "libstate/operator_state/element_reader.hpp"
#include "libstate/snapshot/block_codec.hpp"

namespace headrace::state {

namespace {

using mode = operator_state_handle::mode;

std::string_view name_of(mode how) {
  switch (how) {
  case mode::split:
    return "split list";
  case mode::union_:
    return "union list";
  case mode::broadcast:
    return "broadcast";
  }
  return "unknown";
}

byte_string encode_entry(byte_view key, byte_view value) {
  byte_string out;
  byte_writer to(out);
  to.put_bytes(key);
  to.put_raw(value);
  return out;
}

/// The elements of all states as of the snapshot.
class copied_elements final : public operator_snapshot_job {
public:
  struct copied {
    std::string name;
    mode how;
    std::vector<byte_string> elements;
  };
  explicit copied_elements(std::vector<copied> states) : states_(std::move(states)) {}

  result<operator_state_handle> run(snapshot_target& target) override {
    HEADRACE_TRY(auto* const out, target.output());
    operator_state_handle handle;
    handle.segment.path = out->path();
    handle.segment.offset = out->position();
    for (const auto& state : states_) {
      auto& list = handle.lists.emplace_back();
      list.name = state.name;
      list.how = state.how;
      for (const auto& element : state.elements) {
        const auto begin = out->position() - handle.segment.offset;
        HEADRACE_CHECK(out->append(element));
        list.elements.push_back({begin, begin + element.size(), checksum_of(element)});
      }
    }
    handle.segment.size_bytes = out->position() - handle.segment.offset;
    return handle;
  }

private:
  std::vector<copied> states_;
};

} // namespace

struct operator_state_backend::entry {
  mode how = mode::split;
  operator_list_state list;
  broadcast_state broadcast;
};

const byte_string* broadcast_state::get(byte_view key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : &found->second;
}

void broadcast_state::put(byte_view key, byte_view value) {
  entries_.insert_or_assign(byte_string(key), byte_string(value));
}

void broadcast_state::remove(byte_view key) {
  if (const auto found = entries_.find(key); found != entries_.end())
    entries_.erase(found);
}

operator_state_backend::operator_state_backend() = default;
operator_state_backend::~operator_state_backend() = default;

status operator_state_backend::restore(const std::vector<operator_state_handle>& handles,
                                       file_system& files) {
  for (const auto& handle : handles) {
    element_reader reader(files, handle.segment);
    for (const auto& list : handle.lists) {
      HEADRACE_TRY(auto* const into, open(list.name, list.how));
      HEADRACE_TRY(auto elements, reader.read(list.elements));
      for (auto& element : elements) {
        if (list.how != mode::broadcast) {
          into->list.add(std::move(element));
          continue;
        }
        byte_reader in(element);
        const auto key = in.get_bytes();
        if (!key)
          return reader.corrupt("malformed entry of `" + list.name + "`");
        into->broadcast.put(*key, byte_view(element).substr(element.size() - in.remaining()));
      }
    }
  }
  return {};
}

result<operator_state_backend::entry*> operator_state_backend::open(std::string_view name,
                                                                    mode how) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) {
    auto made = std::make_unique<entry>();
    made->how = how;
    return entries_.emplace(std::string(name), std::move(made)).first->second.get();
  }
  if (found->second->how != how)
    return error(errc::incompatible_state, "state is incompatible with the restored one: `" +
                                               std::string(name) + "`, mode: was " +
                                               std::string(name_of(found->second->how)) + ", is " +
                                               std::string(name_of(how)));
  return found->second.get();
}

result<operator_list_state*> operator_state_backend::list(std::string_view name) {
  HEADRACE_TRY(auto* const opened, open(name, mode::split));
  return &opened->list;
}

result<operator_list_state*> operator_state_backend::union_list(std::string_view name) {
  HEADRACE_TRY(auto* const opened, open(name, mode::union_));
  return &opened->list;
}

result<broadcast_state*> operator_state_backend::broadcast(std::string_view name) {
  HEADRACE_TRY(auto* const opened, open(name, mode::broadcast));
  return &opened->broadcast;
}

bool operator_state_backend::is_empty() const {
  for (const auto& [name, one] : entries_) {
    if (!one->list.elements().empty() || !one->broadcast.entries().empty())
      return false;
  }
  return true;
}

std::unique_ptr<operator_snapshot_job> operator_state_backend::snapshot() {
  std::vector<copied_elements::copied> states;
  for (const auto& [name, one] : entries_) {
    auto& copy = states.emplace_back();
    copy.name = name;
    copy.how = one->how;
    copy.elements = one->list.elements();
    for (const auto& [key, value] : one->broadcast.entries())
      copy.elements.push_back(encode_entry(key, value));
  }
  return std::make_unique<copied_elements>(std::move(states));
}

} // namespace headrace::state
