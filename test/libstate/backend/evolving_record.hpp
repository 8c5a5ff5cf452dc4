#pragma once

#include "libgraph/types/logical_type.hpp"
#include "libactors/base/bytes.hpp"
#include "libactors/base/random.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace headrace::testing {

/// A value of a user's state as a model has it: by field; `monostate` is NULL.
using field_value =
    std::variant<std::monostate, std::int64_t, double, std::string, std::vector<std::int64_t>>;
using record = std::map<std::string, field_value>;

/// The type of a state that changes from one version of a program to the next: fields are added,
/// removed, moved, widened, and become nullable.
class record_schema {
public:
  /// One field.
  explicit record_schema(random_source& random) { add(random); }

  void evolve(random_source& random);
  /// @returns an encoded value of this type, of which added fields are taken; or nothing
  const byte_string& defaults() const { return encoded_defaults_; }
  graph::logical_type type() const;
  record make(random_source& random) const;
  byte_string encode(const record& from) const;
  record decode(byte_view stored) const;
  /// What a record of the schema before the last `evolve` becomes.
  record migrated(const record& from) const;

private:
  enum class root : std::uint8_t {
    tinyint,
    smallint,
    integer,
    bigint,
    float_,
    double_,
    string,
    integers,
    bigints
  };
  struct field {
    std::string name;
    root type = root::tinyint;
    bool is_nullable = false;
  };
  void add(random_source& random);
  static graph::logical_type type_of(root type);
  static field_value zero_of(const field& of);
  static field_value random_value(const field& of, random_source& random);
  static bool widen(field& one, random_source& random);

  std::vector<field> fields_;
  int made_ = 0;
  record defaults_; ///< empty: none
  byte_string encoded_defaults_;
};

} // namespace headrace::testing
