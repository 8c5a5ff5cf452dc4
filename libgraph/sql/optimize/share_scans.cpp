#include "libgraph/sql/optimize/optimizer.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace headrace::sql {
namespace {

/// Where the rows of a table come into a plan:
///
///     user                            what its queries do with the rows
///     +- WatermarkAssigner            perhaps
///        +- Calc                      perhaps: computed columns that the watermark follows
///           +- TableSourceScan
struct table_use {
  plan_node* user = nullptr;
  std::size_t input = 0; ///< of the user

  plan_node& top() const { return user->inputs[input]; }
  const watermark_node* marks() const { return std::get_if<watermark_node>(&top().node); }
  const plan_node& below_marks() const { return marks() == nullptr ? top() : top().inputs[0]; }
  const calc_node* calc() const { return std::get_if<calc_node>(&below_marks().node); }
  const plan_node& scan_plan() const {
    return calc() == nullptr ? below_marks() : below_marks().inputs[0];
  }
  const scan_node& scan() const { return std::get<scan_node>(scan_plan().node); }
};

std::vector<std::size_t> first_numbers(std::size_t count) {
  std::vector<std::size_t> out(count);
  std::iota(out.begin(), out.end(), 0);
  return out;
}

bool is_table(const plan_node& plan) {
  if (std::holds_alternative<scan_node>(plan.node))
    return true;
  if (!std::holds_alternative<watermark_node>(plan.node))
    return false;
  const auto& below = plan.inputs[0];
  if (std::holds_alternative<scan_node>(below.node))
    return true;
  const auto* calc = std::get_if<calc_node>(&below.node);
  return calc != nullptr && !calc->condition &&
         std::all_of(calc->items.begin(), calc->items.end(), is_deterministic) &&
         std::holds_alternative<scan_node>(below.inputs[0].node);
}

void find_uses(plan_node& plan, std::vector<table_use>& out) {
  // Malformed records come from the source as their table's other readers have it, with all
  // columns.
  if (std::holds_alternative<dead_letter_node>(plan.node))
    return;
  for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
    if (is_table(plan.inputs[i]))
      out.push_back({&plan, i});
    else
      find_uses(plan.inputs[i], out);
  }
}

/// Lets an expression over the columns of a scan count those of another one, which gives `fields`
/// of the record, whole.
void widen(bound_expression& in, const scan_node& from, const std::vector<std::size_t>& fields) {
  if (auto* column = std::get_if<bound_column>(&in.node)) {
    const auto field = from.fields[column->index];
    const auto place = std::lower_bound(fields.begin(), fields.end(), field) - fields.begin();
    column->index = static_cast<std::size_t>(place);
    in.type = from.record.child(field);
  } else if (auto* field = std::get_if<bound_field>(&in.node)) {
    const auto name = field->row->type.fields()[field->index].name;
    widen(*field->row, from, fields);
    const auto& row = field->row->type;
    field->index = static_cast<std::size_t>(row.field_index(name));
    const auto& whole = row.child(field->index);
    in.type = in.type.is_nullable() ? whole.nullable() : whole.not_null();
  } else if (auto* call = std::get_if<bound_call>(&in.node)) {
    for (auto& each : call->arguments)
      widen(each, from, fields);
  }
}

void widen(calc_node& in, const scan_node& from, const std::vector<std::size_t>& fields) {
  for (auto& each : in.items)
    widen(each, from, fields);
  if (in.condition)
    widen(*in.condition, from, fields);
}

/// What watermarks follow, over the whole record.
bound_expression time_of(const table_use& of) {
  const auto all = first_numbers(of.scan().record.fields().size());
  const auto place = of.marks()->column;
  auto out = of.calc() == nullptr ? bound_expression{bound_column{place}, logical_type::null(), {}}
                                  : of.calc()->items[place];
  widen(out, of.scan(), all);
  return out;
}

/// Whether both may read one scan, behind the same watermarks.
bool are_alike(const table_use& left, const table_use& right) {
  const auto& one = left.scan();
  const auto& other = right.scan();
  if (!(one.table == other.table && one.options == other.options && one.record == other.record))
    return false;
  const auto* marks = left.marks();
  const auto* others = right.marks();
  if (marks == nullptr || others == nullptr)
    return marks == others;
  return (left.calc() == nullptr) == (right.calc() == nullptr) &&
         marks->delay_ms == others->delay_ms && marks->on_event == others->on_event &&
         marks->idle_timeout_ms == others->idle_timeout_ms && time_of(left) == time_of(right);
}

/// What all uses of a table read together.
class shared_table {
public:
  explicit shared_table(std::vector<table_use> uses) : uses_(std::move(uses)) {}

  /// Lets all of them read one plan.
  void share() {
    add_scan();
    if (uses_.front().marks() == nullptr)
      return share_scan();
    if (uses_.front().calc() == nullptr)
      return share_marks(std::move(scan_), fields_);
    share_computed();
  }

private:
  void add_scan() {
    std::map<std::size_t, plan_column> columns;
    for (const auto& use : uses_)
      for (std::size_t i = 0; i < use.scan().fields.size(); ++i)
        columns.emplace(use.scan().fields[i], use.scan_plan().columns[i]);
    scan_ = uses_.front().scan_plan();
    scan_.columns.clear();
    for (auto& [field, column] : columns) {
      fields_.push_back(field);
      scan_.columns.push_back(std::move(column));
      scan_.columns.back().type = uses_.front().scan().record.child(field);
    }
    std::get<scan_node>(scan_.node).fields = fields_;
  }

  /// Who reads the scan itself chooses among its columns.
  void share_scan() {
    std::vector<calc_node*> users;
    for (const auto& use : uses_) {
      auto* user = std::get_if<calc_node>(&use.user->node);
      if (user == nullptr) {
        put_choice(use, first_numbers(use.top().columns.size()));
        user = &std::get<calc_node>(use.top().node);
        widen(*user, std::get<scan_node>(use.top().inputs[0].node), fields_);
      } else {
        widen(*user, use.scan(), fields_);
      }
      users.push_back(user);
    }
    narrow_scan(scan_, users);
    for (const auto& use : uses_)
      if (std::holds_alternative<calc_node>(use.user->node))
        use.top() = scan_;
      else
        use.top().inputs[0] = scan_;
    drop_idle_choices();
  }

  /// The columns that any of them computes, once.
  void share_computed() {
    plan_node made = uses_.front().below_marks();
    calc_node all;
    made.columns.clear();
    std::vector<plan_column> marked; ///< those that tell which time is the watermarks'
    for (const auto& use : uses_) {
      places_.emplace_back();
      for (std::size_t i = 0; i < use.calc()->items.size(); ++i) {
        auto item = use.calc()->items[i];
        widen(item, use.scan(), fields_);
        std::size_t place = 0;
        while (place < all.items.size() &&
               !(all.items[place] == item && marked[place] == use.top().columns[i]))
          ++place;
        places_.back().push_back(place);
        if (place < all.items.size())
          continue;
        all.items.push_back(std::move(item));
        made.columns.push_back(use.below_marks().columns[i]);
        marked.push_back(use.top().columns[i]);
      }
    }
    narrow_scan(scan_, {&all});
    made.node = std::move(all);
    made.inputs[0] = std::move(scan_);
    put(std::move(made), std::move(marked));
  }

  void share_marks(plan_node below, const std::vector<std::size_t>& fields) {
    auto marked = below.columns;
    for (const auto& use : uses_) {
      places_.emplace_back();
      for (std::size_t i = 0; i < use.scan().fields.size(); ++i) {
        const auto place = std::lower_bound(fields.begin(), fields.end(), use.scan().fields[i]);
        places_.back().push_back(static_cast<std::size_t>(place - fields.begin()));
        marked[places_.back().back()] = use.top().columns[i];
      }
    }
    put(std::move(below), std::move(marked));
  }

  /// Puts the watermarks over `below`, and both below all uses.
  void put(plan_node below, std::vector<plan_column> columns) {
    auto made = uses_.front().top();
    auto& marks = std::get<watermark_node>(made.node);
    marks.column = places_.front()[marks.column];
    made.columns = std::move(columns);
    made.inputs[0] = std::move(below);
    for (std::size_t i = 0; i < uses_.size(); ++i) {
      const auto& use = uses_[i];
      if (auto* user = std::get_if<calc_node>(&use.user->node)) {
        move_columns(*user, places_[i]);
        use.top() = made;
      } else {
        put_choice(use, places_[i]);
        use.top().inputs[0] = made;
      }
    }
    drop_idle_choices();
  }

  static void move_columns(calc_node& in, const std::vector<std::size_t>& places) {
    const auto move = [&](bound_column& column) { column.index = places[column.index]; };
    for (auto& each : in.items)
      visit_columns(each, move);
    if (in.condition)
      visit_columns(*in.condition, move);
  }

  /// Puts a calc of the columns at those places over what a use reads.
  static void put_choice(const table_use& use, const std::vector<std::size_t>& places) {
    plan_node choice;
    choice.at = use.top().at;
    choice.columns = use.top().columns;
    calc_node calc;
    for (std::size_t i = 0; i < places.size(); ++i)
      calc.items.push_back({bound_column{places[i]}, choice.columns[i].type, {}});
    choice.node = std::move(calc);
    choice.inputs.push_back(std::move(use.top()));
    use.top() = std::move(choice);
  }

  void drop_idle_choices() const {
    for (const auto& use : uses_)
      if (!std::holds_alternative<calc_node>(use.user->node))
        use.top() = merge_calcs(std::move(use.top()));
  }

  std::vector<table_use> uses_;
  std::vector<std::size_t> fields_; ///< of the record, in its order
  plan_node scan_;
  std::vector<std::vector<std::size_t>> places_; ///< of a use's columns among the shared ones
};

} // namespace

std::vector<plan_node> share_scans(std::vector<plan_node> plans) {
  std::vector<table_use> uses;
  for (auto& each : plans)
    find_uses(each, uses);
  while (!uses.empty()) {
    const auto first = uses.front();
    const auto others = std::stable_partition(
        uses.begin(), uses.end(), [&](const table_use& each) { return are_alike(first, each); });
    std::vector<table_use> alike(uses.begin(), others);
    uses.erase(uses.begin(), others);
    // Equal ones are one source anyway.
    if (std::any_of(alike.begin(), alike.end(),
                    [&](const table_use& each) { return !(each.top() == first.top()); }))
      shared_table(std::move(alike)).share();
  }
  return plans;
}

} // namespace headrace::sql
