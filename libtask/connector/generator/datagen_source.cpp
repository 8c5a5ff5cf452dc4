#include "libtask/connector/generator/datagen_source.hpp"

#include "libtask/connector/generator/field_generator.hpp"
#include "libgraph/connector/generator_source.hpp"
#include "libgraph/connector/option_set.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace headrace::task {
namespace {

constexpr std::array declared{
    option_declaration{"number-of-rows", option_type::integer, "",
                       "rows in all; without it, and without a sequence's end, there is no end", 0},
    option_declaration{"rows-per-second", option_type::real, "",
                       "rows of all readers together; 0: no limit; 10000 for 'datagen', no limit "
                       "for 'generator'",
                       0},
    option_declaration{"scan.parallelism", option_type::integer, "",
                       "how many subtasks read, of tables of SQL; unset: as many as the job's", 1,
                       32'768},
    option_declaration{"seed", option_type::integer, "0", "another seed gives other values"},
};

class datagen final : public graph::row_generator {
public:
  datagen(graph::row_type_ptr type, std::vector<field_generator> fields, std::uint64_t seed,
          const headrace::clock& time)
      : type_(std::move(type)), fields_(std::move(fields)), seed_(seed), time_(time) {}

  status fill(std::uint64_t first, std::size_t count, graph::batch_builder& out) override {
    const auto now_ms = time_.wall_ms();
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      const auto& type = type_->child(i);
      auto& column = out.column(i);
      const auto salt = mix64(seed_ + (i + 1) * 0x9e3779b97f4a7c15ULL);
      for (std::uint64_t index = first; index < first + count; ++index)
        fields_[i].append(type, index, mix64(salt ^ mix64(index + 1)), now_ms, column);
    }
    out.end_rows(count);
    return {};
  }

private:
  graph::row_type_ptr type_;
  std::vector<field_generator> fields_;
  std::uint64_t seed_;
  const headrace::clock& time_;
};

/// How many rows there are until the first sequence in the field ends.
std::optional<std::uint64_t> rows_until_end(const field_generator& field) {
  std::optional<std::uint64_t> out;
  if (field.end)
    out = static_cast<std::uint64_t>(*field.end) - static_cast<std::uint64_t>(field.start) + 1;
  for (const auto& each : field.children)
    if (const auto rows = rows_until_end(each))
      out = std::min(out.value_or(*rows), *rows);
  return out;
}

} // namespace

std::vector<option_declaration> datagen_options() {
  std::vector<option_declaration> out(declared.begin(), declared.end());
  const auto of_fields = field_generator::declared();
  out.insert(out.end(), of_fields.begin(), of_fields.end());
  return out;
}

result<std::unique_ptr<graph::source>> make_datagen_source(const graph::option_map& options,
                                                           graph::row_type_ptr type,
                                                           double rows_per_second) {
  auto own = options;
  HEADRACE_TRY(auto field_options, options_by_field(graph::take_prefixed(own, "fields"), *type));
  HEADRACE_TRY(const auto set, graph::option_set::parse("source 'generator'", declared, own));
  graph::generator_options how;
  how.rows_per_second =
      set.has("rows-per-second") ? set.get_real("rows-per-second") : rows_per_second;
  if (set.has("number-of-rows"))
    how.rows = static_cast<std::uint64_t>(set.get_int("number-of-rows"));
  std::vector<field_generator> fields;
  for (const auto& field : type->fields()) {
    HEADRACE_TRY(auto generator, field_generator::parse(field, field_options[field.name]));
    if (const auto rows = rows_until_end(generator))
      how.rows = std::min(how.rows.value_or(*rows), *rows);
    fields.push_back(std::move(generator));
  }
  const auto seed = static_cast<std::uint64_t>(set.get_int("seed"));
  auto make = [type, fields = std::move(fields),
               seed](const graph::reader_context& context,
                     const graph::row_type_ptr&) -> result<std::unique_ptr<graph::row_generator>> {
    return std::unique_ptr<graph::row_generator>(
        std::make_unique<datagen>(type, fields, seed, context.time));
  };
  return std::unique_ptr<graph::source>(
      std::make_unique<graph::generator_source>(type, how, std::move(make)));
}

} // namespace headrace::task
