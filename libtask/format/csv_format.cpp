#include "libtask/format/csv_format.hpp"

#include "libtask/format/csv_decoder.hpp"
#include "libtask/format/csv_encoder.hpp"
#include "libtask/format/decode_input.hpp"
#include "libtask/format/scalar_text.hpp"

namespace headrace::task {
namespace {

class csv_format final : public graph::format {
public:
  explicit csv_format(csv_options options) : options_(std::move(options)) {}

  bool is_splittable() const override { return !options_.allow_newlines; }
  result<std::unique_ptr<graph::decoder>>
  create_decoder(graph::row_type_ptr record, graph::row_type_ptr produced) const override {
    HEADRACE_CHECK(check(*record));
    HEADRACE_CHECK(check_produced(*record, *produced));
    return std::unique_ptr<graph::decoder>(
        std::make_unique<csv_decoder>(options_, std::move(record), *produced));
  }
  result<std::unique_ptr<graph::encoder>> create_encoder(graph::row_type_ptr type) const override {
    HEADRACE_CHECK(check(*type));
    return std::unique_ptr<graph::encoder>(
        std::make_unique<csv_encoder>(options_, std::move(type)));
  }

private:
  status check(const graph::logical_type& type) const {
    HEADRACE_CHECK(check_csv_type(type));
    if (options_.delimiter != options_.array_delimiter)
      return {};
    for (const auto& column : type.fields())
      if (!is_scalar(column.type))
        return error(errc::bad_option_value,
                     "bad value of option 'csv.array-element-delimiter': the elements of column `" +
                         column.name + "` need another one than 'csv.field-delimiter', '" +
                         options_.delimiter + "'");
    return {};
  }

  csv_options options_;
};

} // namespace

result<std::unique_ptr<graph::format>> make_csv_format(const graph::option_map& options) {
  HEADRACE_TRY(auto parsed, csv_options::parse(options));
  return std::unique_ptr<graph::format>(std::make_unique<csv_format>(std::move(parsed)));
}

} // namespace headrace::task
