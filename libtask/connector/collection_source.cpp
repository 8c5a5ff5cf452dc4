#include "libtask/connector/collection_source.hpp"

#include "libgraph/connector/generator_source.hpp"
#include "libgraph/connector/option_set.hpp"
#include "libgraph/data/batch_codec.hpp"
#include "libgraph/types/value_text.hpp"

#include <array>
#include <numeric>
#include <vector>

namespace headrace::task {
namespace {

constexpr std::array declared{
    option_declaration{"rows", option_type::text, "", "the rows: an encoded batch in base64"},
};

/// Copies rows by their index.
class collected_rows final : public graph::row_generator {
public:
  explicit collected_rows(graph::record_batch rows) : rows_(std::move(rows)) {}
  status fill(std::uint64_t first, std::size_t count, graph::batch_builder& out) override {
    std::vector<std::uint32_t> places;
    for (std::size_t i = 0; i < count; ++i)
      places.push_back(rows_.row_at(static_cast<std::size_t>(first) + i));
    for (std::size_t i = 0; i < rows_.column_count(); ++i)
      out.column(i).append_from(rows_.at(i), places);
    for (const auto place : places) {
      const auto kind = rows_.kinds() == nullptr ? graph::row_kind::insert : rows_.kinds()[place];
      if (rows_.timestamps() != nullptr)
        out.end_row(kind, rows_.timestamps()[place]);
      else
        out.end_row(kind);
    }
    return {};
  }

private:
  graph::record_batch rows_;
};

} // namespace

std::string encode_collection(const graph::record_batch& rows) {
  std::string out;
  graph::append_base64(graph::encode_batch(rows), out);
  return out;
}

std::unique_ptr<graph::source> make_collection_source(graph::record_batch rows) {
  graph::generator_options how;
  how.rows = rows.size();
  const auto type = rows.type();
  return std::make_unique<graph::generator_source>(
      type, how,
      [rows = std::move(rows)](const graph::reader_context&, const graph::row_type_ptr&)
          -> result<std::unique_ptr<graph::row_generator>> {
        return std::unique_ptr<graph::row_generator>(std::make_unique<collected_rows>(rows));
      });
}

result<std::unique_ptr<graph::source>>
make_collection_source(const graph::connector_registry& /*registry*/,
                       const graph::option_map& options, graph::row_type_ptr type) {
  HEADRACE_TRY(const auto set, graph::option_set::parse("source 'collection'", declared, options));
  HEADRACE_TRY(const auto text, set.need_text("rows"));
  std::string bytes;
  if (!graph::decode_base64(text, bytes))
    return error(errc::bad_option_value,
                 "bad value of option 'rows' of source 'collection': it is no base64");
  auto rows = graph::decode_batch(std::move(type), bytes);
  if (!rows)
    return error(errc::bad_option_value,
                 "bad value of option 'rows' of source 'collection': it holds no rows of its type",
                 std::move(rows).error());
  return make_collection_source(std::move(*rows));
}

} // namespace headrace::task
