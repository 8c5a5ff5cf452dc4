#include "libstate/operator_state/operator_state_backend.hpp"

#include "libstate/keyed/user_state.hpp"
#include "libstate/keyed/value_migration.hpp"
#include "libstate/operator_state/element_reader.hpp"
#include "libstate/snapshot/block_codec.hpp"
#include "libgraph/function/failure.hpp"

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

/// The handle of a user's list.
class list_handle final : public graph::list_access {
public:
  explicit list_handle(operator_list_state& list) : list_(list) {}
  std::size_t size() override { return list_.elements().size(); }
  byte_view at(std::size_t index) override { return list_.elements()[index]; }
  void add(byte_view element) override { list_.add(byte_string(element)); }
  void clear() override { list_.clear(); }

private:
  operator_list_state& list_;
};

/// The handle of a user's broadcast state.
class map_handle final : public graph::map_access {
public:
  explicit map_handle(broadcast_state& map) : map_(map) {}
  std::optional<byte_view> get(byte_view key) override {
    const auto* found = map_.get(key);
    return found == nullptr ? std::nullopt : std::optional<byte_view>(*found);
  }
  void put(byte_view key, byte_view value) override { map_.put(key, value); }
  void remove(byte_view key) override { map_.remove(key); }
  void clear() override { map_.clear(); }
  bool is_empty() override { return map_.entries().empty(); }
  void for_each(bool (*visit)(void* context, byte_view key, byte_view value),
                void* context) override {
    for (const auto& [key, value] : map_.entries())
      if (!visit(context, key, value))
        return;
  }

private:
  broadcast_state& map_;
};

/// What a function declares, as keyed states are described; the TTL is none.
state_description described(const graph::state_descriptor& declared) {
  return describe_user_state(declared, declared.kind == graph::state_kind::map ? table_kind::map
                                                                               : table_kind::list);
}

byte_string encode_declaration(const state_description& declared) {
  byte_string out;
  byte_writer to(out);
  to.put(static_cast<std::uint8_t>(declared.kind));
  declared.entry_key_type.encode(to);
  declared.value_type.encode(to);
  return out;
}

} // namespace

result<broadcast_entry> read_broadcast_entry(byte_view element) {
  byte_reader in(element);
  HEADRACE_TRY(const auto key, in.get_bytes());
  return broadcast_entry{key, element.substr(element.size() - in.remaining())};
}

result<state_description> read_declaration(const broadcast_entry& entry) {
  state_description out;
  out.name = std::string(entry.key);
  byte_reader in(entry.value);
  HEADRACE_TRY(const auto kind, in.get<std::uint8_t>());
  out.kind = static_cast<table_kind>(kind);
  HEADRACE_TRY(out.entry_key_type, graph::logical_type::decode(in));
  HEADRACE_TRY(out.value_type, graph::logical_type::decode(in));
  out.layout = value_layout::variable();
  return out;
}

struct operator_state_backend::entry {
  mode how = mode::split;
  operator_list_state list;
  broadcast_state broadcast;
  list_handle user_list{list}; ///< handles of users' states
  map_handle user_map{broadcast};
  bool is_declared = false; ///< by a function, since the restore
};

const byte_string* broadcast_state::get(byte_view key) const {
  const auto found = by_hash_.find(key);
  return found == by_hash_.end() ? nullptr : &found->second->second;
}

void broadcast_state::put(byte_view key, byte_view value) {
  if (const auto found = by_hash_.find(key); found != by_hash_.end()) {
    found->second->second.assign(value);
    return;
  }
  const auto added = entries_.emplace(key, value).first;
  by_hash_.emplace(added->first, added);
}

void broadcast_state::remove(byte_view key) {
  const auto found = by_hash_.find(key);
  if (found == by_hash_.end())
    return;
  const auto entry = found->second;
  by_hash_.erase(found);
  entries_.erase(entry);
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
        const auto read = read_broadcast_entry(element);
        if (!read)
          return reader.corrupt("malformed entry of `" + list.name + "`");
        into->broadcast.put(read->key, read->value);
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

/// Rewrites what was restored where its type has changed in a way that keyed states allow.
status operator_state_backend::migrate(const graph::state_descriptor& wanted, entry& restored,
                                       byte_view stored) {
  HEADRACE_TRY(const auto before, read_declaration({wanted.name, stored}));
  const auto now = described(wanted);
  HEADRACE_TRY(const auto fit, check_migratable(before, now));
  if (fit == state_fit::as_is)
    return {};
  const value_migration migration(before.value_type, now.value_type, wanted.default_value);
  const auto corrupt = [&](error cause) {
    return error(errc::corrupt_snapshot, "corrupt value of state `" + wanted.name + "`",
                 std::move(cause));
  };
  std::vector<byte_string> elements;
  for (const auto& element : restored.list.elements()) {
    auto& rewritten = elements.emplace_back();
    if (auto done = migration.rewrite(element, rewritten); !done)
      return corrupt(std::move(done).error());
  }
  restored.list.replace(std::move(elements));
  const auto entries = restored.broadcast.entries();
  for (const auto& [key, value] : entries) {
    byte_string rewritten;
    if (auto done = migration.rewrite(value, rewritten); !done)
      return corrupt(std::move(done).error());
    restored.broadcast.put(key, rewritten);
  }
  return {};
}

operator_state_backend::entry&
operator_state_backend::open_for_user(const graph::state_descriptor& descriptor, mode how) {
  const auto check = [](status done) {
    if (!done)
      throw graph::failure(std::move(done).error());
  };
  if (descriptor.name == declarations)
    check(error(errc::invalid_graph, "a state cannot be named `" + descriptor.name + "`"));
  const auto place = entries_.find(declarations);
  const auto* known = place == entries_.end() ? nullptr : &place->second->broadcast;
  auto opened = open(descriptor.name, how);
  if (!opened)
    check(std::move(opened).error());
  auto& state = **opened;
  const auto declaration = encode_declaration(described(descriptor));
  const auto* stored = known == nullptr ? nullptr : known->get(descriptor.name);
  if (state.is_declared && (stored == nullptr || *stored != declaration))
    check(opened_otherwise(descriptor.name));
  if (stored != nullptr)
    check(migrate(descriptor, state, *stored));
  state.is_declared = true;
  auto declared = broadcast(declarations);
  if (!declared)
    check(std::move(declared).error());
  (*declared)->put(descriptor.name, declaration);
  return state;
}

graph::list_access& operator_state_backend::split_list(const graph::state_descriptor& descriptor) {
  return open_for_user(descriptor, mode::split).user_list;
}

graph::list_access& operator_state_backend::union_list(const graph::state_descriptor& descriptor) {
  return open_for_user(descriptor, mode::union_).user_list;
}

graph::map_access&
operator_state_backend::broadcast_map(const graph::state_descriptor& descriptor) {
  return open_for_user(descriptor, mode::broadcast).user_map;
}

status operator_state_backend::settle_restored(bool may_drop) {
  const auto known = entries_.find(declarations);
  if (known == entries_.end())
    return {};
  auto& declared = known->second->broadcast;
  std::vector<std::string> left;
  for (const auto& [name, declaration] : declared.entries()) {
    const auto found = entries_.find(name);
    if (found == entries_.end() || !found->second->is_declared)
      left.emplace_back(name);
  }
  if (!left.empty() && !may_drop)
    return error(errc::incompatible_state,
                 "checkpoint has a state that the operator no longer declares: `" + left.front() +
                     "`; keep its name, or drop it with --allow-non-restored-state");
  for (const auto& name : left) {
    declared.remove(name);
    if (const auto found = entries_.find(name); found != entries_.end())
      entries_.erase(found);
  }
  return {};
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
