#include "libtask/operator/aggregate/group_values.hpp"

#include "libtask/operator/aggregate/percentile_value.hpp"
#include "libtask/operator/aggregate/user_value.hpp"
#include "libtask/operator/aggregate/value_bytes.hpp"
#include "libgraph/data/key_codec.hpp"
#include "libgraph/data/key_value.hpp"
#include "libgraph/kernel/compare.hpp"
#include "libactors/base/assert.hpp"
#include "libactors/base/bytes.hpp"

#include <cstring>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace headrace::task {
namespace {

using graph::column_builder;
using graph::logical_type;
using graph::record_batch;

using value_bytes::bytes_of;
using value_bytes::count_of;
using value_bytes::read_fixed;

int compare_bytes(const logical_type& type, byte_view left, byte_view right) {
  if (type.physical() == graph::physical_type::string)
    return left.compare(right);
  int out = 0;
  graph::visit_fixed_width(type.physical(), [&]<class T>(std::type_identity<T>) {
    out = graph::compare_fixed(read_fixed<T>(left), read_fixed<T>(right));
  });
  return out;
}

} // namespace

graph::state_descriptor describe_bytes(const std::string& name, graph::state_kind kind,
                                       std::int64_t ttl_ms) {
  graph::state_descriptor out;
  out.name = name;
  out.kind = kind;
  out.value_type = logical_type::bytes();
  out.key_type = kind == graph::state_kind::map ? logical_type::bytes() : logical_type::null();
  out.ttl_ms = ttl_ms;
  return out;
}

namespace {

/// The least or greatest of all values. Over rows that are taken back, how often each is there.
class extreme_value final : public group_value {
public:
  extreme_value(const graph::group_aggregate_call& call, const logical_type& type, bool counts,
                graph::state_provider& states, const std::string& name, std::int64_t ttl_ms)
      : column_(static_cast<std::size_t>(call.arguments[0])), type_(type),
        sign_(call.function == "MIN" ? 1 : -1), expires_(ttl_ms > 0),
        best_(&states.value(describe_bytes(name, graph::state_kind::value, ttl_ms))) {
    if (counts)
      counts_ = &states.map(describe_bytes(name + "-values", graph::state_kind::map, ttl_ms));
  }

  void take(const record_batch& in, std::uint32_t row, bool is_retracted, column_builder& before,
            column_builder& after) override {
    const auto& values = in.at(column_);
    load();
    append(before);
    if (!values.is_null(row)) {
      value_bytes::write(values, row, given_);
      if (is_retracted)
        remove();
      else
        insert();
    }
    append(after);
  }

  void pass(column_builder& before, column_builder& after) override {
    load();
    append(before);
    append(after);
  }
  void tell(column_builder& to) override {
    load();
    append(to);
  }
  void clear() override {
    best_->clear();
    if (counts_ != nullptr)
      counts_->clear();
  }

private:
  void load() {
    const auto kept = best_->get();
    has_value_ = kept.has_value();
    if (kept)
      value_.assign(*kept);
  }
  void append(column_builder& to) const {
    if (has_value_)
      value_bytes::append(value_, to);
    else
      to.append_null();
  }
  void insert() {
    if (counts_ != nullptr) {
      const auto count = count_of(counts_->get(given_)) + 1;
      counts_->put(given_, bytes_of(count));
    }
    if (has_value_ && compare_bytes(type_, given_, value_) * sign_ >= 0) {
      if (expires_) // as long as its group
        best_->put(value_);
      return;
    }
    value_ = given_;
    has_value_ = true;
    best_->put(value_);
  }
  void remove() {
    if (counts_ == nullptr)
      return;
    const auto count = count_of(counts_->get(given_)) - 1;
    if (count > 0) {
      counts_->put(given_, bytes_of(count));
      return;
    }
    counts_->remove(given_);
    if (!has_value_ || compare_bytes(type_, given_, value_) != 0)
      return;
    // The best is gone: the next best is looked for among all.
    has_value_ = false;
    counts_->for_each(
        [](void* context, byte_view key, byte_view) {
          auto& self = *static_cast<extreme_value*>(context);
          if (!self.has_value_ || compare_bytes(self.type_, key, self.value_) * self.sign_ < 0) {
            self.value_.assign(key);
            self.has_value_ = true;
          }
          return true;
        },
        this);
    if (has_value_)
      best_->put(value_);
    else
      best_->clear();
  }

  std::size_t column_;
  logical_type type_;
  int sign_;
  bool expires_;
  graph::value_access* best_;
  graph::map_access* counts_ = nullptr;
  std::string given_;
  std::string value_;
  bool has_value_ = false;
};

/// All values in the order in which they came, or what is needed of them.
class listed_value final : public group_value {
public:
  enum class kind : std::uint8_t { first, last, joined, array, multiset };

  listed_value(const graph::group_aggregate_call& call, bool retracts,
               graph::state_provider& states, const std::string& name, std::int64_t ttl_ms)
      : column_(static_cast<std::size_t>(call.arguments[0])),
        separator_(call.arguments.size() > 1 ? call.arguments[1] : -1),
        what_(call.function == "FIRST_VALUE"  ? kind::first
              : call.function == "LAST_VALUE" ? kind::last
              : call.function == "ARRAY_AGG"  ? kind::array
              : call.function == "COLLECT"    ? kind::multiset
                                              : kind::joined),
        retracts_(retracts),
        state_(&states.value(describe_bytes(name, graph::state_kind::value, ttl_ms))) {}

  void take(const record_batch& in, std::uint32_t row, bool is_retracted, column_builder& before,
            column_builder& after) override {
    const auto& values = in.at(column_);
    load();
    if (separator_ >= 0 && !in.at(static_cast<std::size_t>(separator_)).is_null(row))
      between_.assign(in.at(static_cast<std::size_t>(separator_)).string_at(row));
    append(before);
    const bool is_null = values.is_null(row);
    if (!is_null || what_ == kind::array) {
      given_.clear();
      if (!is_null && is_nested(values.type()))
        graph::append_key(values, row, given_);
      else if (!is_null)
        value_bytes::write(values, row, given_);
      // A NULL among the items of an array is what no value's bytes are.
      if (what_ == kind::array)
        given_.insert(given_.begin(), is_null ? null_mark : value_mark);
      if (is_retracted)
        remove();
      else
        insert();
    }
    append(after);
  }

  void pass(column_builder& before, column_builder& after) override {
    load();
    append(before);
    append(after);
  }
  void tell(column_builder& to) override {
    load();
    append(to);
  }
  void clear() override { state_->clear(); }

private:
  static bool is_nested(const graph::logical_type& type) { return type.width_bytes() <= 0; }
  static void append_nested(byte_view value, column_builder& to) {
    column_builder* const into[] = {&to};
    const auto done = graph::decode_keys(std::span(&value, 1), into);
    HEADRACE_ASSERT(done.has_value(), "items of an array are as they were written");
  }

  static constexpr char null_mark = 0;
  static constexpr char value_mark = 1;

  void load() {
    const auto kept = state_->get();
    list_.assign(kept.value_or(byte_view()));
  }
  void save() {
    if (list_.empty())
      state_->clear();
    else
      state_->put(list_);
  }
  void insert() {
    if (!retracts_ && what_ == kind::first && !list_.empty()) {
      save(); // lives as long as its group
      return;
    }
    if (!retracts_ && what_ == kind::last)
      list_.clear();
    byte_writer(list_).put_bytes(given_);
    save();
  }
  /// Takes the first that is equal out.
  void remove() {
    byte_reader in(list_);
    while (!in.at_end()) {
      const auto begin = list_.size() - in.remaining();
      const auto each = in.get_bytes();
      if (!each)
        return;
      if (*each == given_) {
        list_.erase(begin, list_.size() - in.remaining() - begin);
        save();
        return;
      }
    }
  }
  void append_array(column_builder& to) const {
    to.begin_list();
    for (byte_reader in(list_); !in.at_end();) {
      const auto each = in.get_bytes();
      if (!each)
        break;
      if (each->front() == null_mark)
        to.child(0).append_null();
      else if (is_nested(to.child(0).type()))
        append_nested(each->substr(1), to.child(0));
      else
        value_bytes::append(each->substr(1), to.child(0));
    }
    to.end_list();
  }
  void append_multiset(column_builder& to) const {
    std::vector<std::pair<byte_view, std::int32_t>> counted; // in the order in which they came
    std::unordered_map<byte_view, std::size_t> places;
    for (byte_reader in(list_); !in.at_end();) {
      const auto each = in.get_bytes();
      if (!each)
        break;
      const auto [found, is_new] = places.emplace(*each, counted.size());
      if (is_new)
        counted.emplace_back(*each, 0);
      ++counted[found->second].second;
    }
    to.begin_list();
    for (const auto& [value, count] : counted) {
      value_bytes::append(value, to.child(0));
      to.child(1).append(count);
    }
    to.end_list();
  }
  void append(column_builder& to) {
    if (what_ == kind::multiset) {
      append_multiset(to);
      return;
    }
    if (list_.empty()) {
      to.append_null();
      return;
    }
    if (what_ == kind::array) {
      append_array(to);
      return;
    }
    text_.clear();
    byte_reader in(list_);
    bool is_first = true;
    while (!in.at_end()) {
      const auto each = in.get_bytes();
      if (!each)
        break;
      if (what_ == kind::joined) {
        if (!is_first)
          text_ += between_;
        text_ += *each;
      } else {
        text_.assign(*each);
        if (what_ == kind::first)
          break;
      }
      is_first = false;
    }
    value_bytes::append(text_, to);
  }

  std::size_t column_;
  std::int32_t separator_;
  kind what_;
  bool retracts_;
  graph::value_access* state_;
  std::string between_ = ",";
  std::string given_;
  std::string list_;
  std::string text_;
};

} // namespace

bool takes_nulls(const graph::group_aggregate_call& call) { return call.function == "ARRAY_AGG"; }

distinct_counter::distinct_counter(graph::state_provider& states, const std::string& name,
                                   std::int32_t column, std::int64_t ttl_ms, bool counts_nulls)
    : counts_(&states.map(describe_bytes(name, graph::state_kind::map, ttl_ms))), column_(column),
      counts_nulls_(counts_nulls) {}

bool distinct_counter::take(const record_batch& in, std::uint32_t row, bool is_retracted) {
  const auto& values = in.at(static_cast<std::size_t>(column_));
  if (values.is_null(row) && !counts_nulls_)
    return false;
  value_.clear();
  if (!values.is_null(row))
    value_bytes::write(values, row, value_);
  if (counts_nulls_) // of another key than any value's
    value_.insert(value_.begin(), values.is_null(row) ? 'n' : 'v');
  const auto before = count_of(counts_->get(value_));
  if (is_retracted && before == 0)
    return false; // what was not there: its group expired
  const auto after = is_retracted ? before - 1 : before + 1;
  if (after == 0)
    counts_->remove(value_);
  else
    counts_->put(value_, bytes_of(after));
  return is_retracted ? after == 0 : before == 0;
}

std::unique_ptr<group_value> make_group_value(const graph::group_aggregate_call& call,
                                              const logical_type& input, bool input_retracts,
                                              graph::state_provider& states,
                                              const std::string& name, std::int64_t ttl_ms) {
  if (!call.definition.empty())
    return make_user_value(call, states, name, ttl_ms);
  if (call.function == "PERCENTILE")
    return make_percentile_value(call, input, states, name, ttl_ms);
  const auto& type = input.child(static_cast<std::size_t>(call.arguments[0]));
  if (call.function == "MIN" || call.function == "MAX")
    return std::make_unique<extreme_value>(call, type, input_retracts, states, name, ttl_ms);
  return std::make_unique<listed_value>(call, input_retracts, states, name, ttl_ms);
}

} // namespace headrace::task
