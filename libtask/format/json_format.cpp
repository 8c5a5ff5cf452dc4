#include "libtask/format/json_format.hpp"

#include "libtask/format/decode_input.hpp"
#include "libtask/format/json_decoder.hpp"
#include "libtask/format/json_encoder.hpp"

namespace headrace::task {
namespace {

class json_format final : public graph::format {
public:
  explicit json_format(json_options options) : options_(std::move(options)) {}

  result<std::unique_ptr<graph::decoder>>
  create_decoder(graph::row_type_ptr record, graph::row_type_ptr produced) const override {
    HEADRACE_CHECK(check_produced(*record, *produced, true));
    return make_json_decoder(options_, std::move(produced));
  }
  result<std::unique_ptr<graph::encoder>> create_encoder(graph::row_type_ptr type) const override {
    HEADRACE_CHECK(make_json_decoder(options_, type)); // takes the same types
    return std::unique_ptr<graph::encoder>(
        std::make_unique<json_encoder>(options_, std::move(type)));
  }

private:
  json_options options_;
};

} // namespace

result<std::unique_ptr<graph::format>> make_json_format(const graph::option_map& options) {
  HEADRACE_TRY(auto parsed, json_options::parse(options));
  return std::unique_ptr<graph::format>(std::make_unique<json_format>(std::move(parsed)));
}

} // namespace headrace::task
