#pragma once

#include "libgraph/expression/kernel/json_document.hpp"
#include "libactors/base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::graph {

/// A path into a JSON value, as SQL/JSON writes it: `lax` or `strict` (which is meant when none is
/// said), `$`, then `.name`, `['name']`, `[0]` (from the end when below 0), `[1:3]`, `[*]`, `.*`,
/// and
/// `..name` or `..[…]` for any depth.
class json_path {
public:
  /// @errors type_mismatch  malformed, or a part that is not supported (filters, functions)
  static result<json_path> compile(std::string_view path);

  struct found {
    std::vector<std::size_t> nodes; ///< of the document
    bool is_list = false;  ///< the path may lead to several values: they are the items of an array
    bool is_error = false; ///< strict, and a part of the path is not there
  };
  found find(const json_document& in) const;
  bool is_lax() const { return is_lax_; }

private:
  enum class step_kind : std::uint8_t { name, index, slice, all };
  struct step {
    step_kind kind = step_kind::name;
    std::string name;
    std::int64_t index = 0; ///< of a slice: its begin
    std::optional<std::int64_t> end;
    bool is_deep = false;
    bool is_list() const { return is_deep || kind == step_kind::all || kind == step_kind::slice; }
  };
  static bool take_step(std::string_view& rest, step& out);
  static bool take_bracket(std::string_view& rest, step& out);
  static bool matches(const json_document& in, std::size_t parent, std::size_t child,
                      std::int64_t place, std::int64_t size, const step& by);

  std::vector<step> steps_;
  bool is_lax_ = false;
};

} // namespace headrace::graph
