#include "libgraph/sql/translate/name_places.hpp"

#include "libgraph/spec/keeps_state.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace headrace::sql {
namespace {

using graph::operator_call;
using graph::transformation;

template <class Spec>
bool is(const transformation& made) {
  const auto* call = std::get_if<operator_call>(&made.call);
  return call != nullptr && std::holds_alternative<Spec>(call->spec);
}

class place_namer {
public:
  place_namer(graph::pipeline& program, std::size_t first)
      : all_(program.transformations), first_(first), seen_as_(all_.size()) {
    for (auto& each : all_)
      tables_.push_back(each.statement.empty() ? each.name : each.statement);
    for (auto i = first_; i < all_.size(); ++i)
      all_[i].statement.clear();
  }

  void name() {
    std::vector<std::size_t> sinks;
    for (auto i = first_; i < all_.size(); ++i)
      if (is<graph::sink_spec>(all_[i]))
        sinks.push_back(i);
    std::stable_sort(sinks.begin(), sinks.end(), [&](std::size_t left, std::size_t right) {
      return tables_[left] < tables_[right];
    });
    for (std::size_t i = 0; i < sinks.size(); ++i) {
      if (i == 0 || tables_[sinks[i]] != tables_[sinks[i - 1]])
        alike_.clear(); // INSERTs into one table are one statement
      is_seen_.assign(all_.size(), false);
      visit(sinks[i], tables_[sinks[i]]);
    }
    name_sources();
  }

private:
  /// What an operator is in the kinds of those behind it: equal texts where they are alike.
  const std::string& visit(std::size_t index, const std::string& statement) {
    auto& made = all_[index];
    auto& seen = seen_as_[index];
    if (index < first_) { // of the program around
      seen = "#" + std::to_string(index);
      return seen;
    }
    if (is_seen_[index])
      return seen;
    is_seen_[index] = true;
    std::string inputs;
    for (const auto input : made.inputs)
      inputs += (inputs.empty() ? "" : ",") + visit(static_cast<std::size_t>(input), statement);
    seen = inputs;
    const auto* call = std::get_if<operator_call>(&made.call);
    if (call == nullptr)
      return seen;
    const bool is_kept = graph::keeps_state(call->spec);
    auto kind = (is_kept ? "" : "-") + std::to_string(call->spec.index()) + "(" + inputs + ")";
    if (is<graph::source_spec>(made))
      kind += tables_[index];
    const auto place = alike_[kind]++;
    if (made.statement.empty()) {
      made.statement = statement;
      made.place = place;
    }
    if (is_kept) {
      kind += "." + std::to_string(place);
      // By number: texts within texts would grow with the plan as a tree.
      seen = std::to_string(kinds_.emplace(std::move(kind), kinds_.size()).first->second);
    }
    return seen;
  }

  void name_sources() {
    std::map<std::string, int> readers;
    for (auto i = first_; i < all_.size(); ++i)
      if (is<graph::source_spec>(all_[i]))
        ++readers[tables_[i]];
    for (auto i = first_; i < all_.size(); ++i) {
      auto& made = all_[i];
      if (!is<graph::source_spec>(made))
        continue;
      if (readers[tables_[i]] > 1) {
        made.statement = tables_[i] + " for " + made.statement;
      } else {
        made.statement = tables_[i];
        made.place = 0;
      }
    }
  }

  std::vector<transformation>& all_;
  std::size_t first_;
  std::vector<std::string> tables_; ///< with their databases, of sources and sinks
  std::vector<std::string> seen_as_;
  std::map<std::string, std::size_t> kinds_; ///< numbered
  std::vector<bool> is_seen_;                ///< in the statement at hand, as below
  std::map<std::string, std::int32_t> alike_;
};

} // namespace

void name_places(graph::pipeline& program, std::size_t first) {
  place_namer(program, first).name();
}

} // namespace headrace::sql
