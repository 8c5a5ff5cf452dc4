#include "libgraph/spec/make_source.hpp"

#include "libgraph/connector/abilities.hpp"
#include "libgraph/types/value_text.hpp"

#include <utility>

namespace headrace::graph {
namespace {

/// No name that an option of a connector could have.
constexpr std::string_view record_option = "$record";

result<logical_type> decode_record(const std::string& text) {
  std::string bytes;
  if (!decode_base64(text, bytes))
    return error(errc::invalid_graph, "the records of a source are no type");
  byte_reader in(bytes);
  return logical_type::decode(in);
}

} // namespace

void set_record(connector_spec& of, const logical_type& record) {
  byte_string bytes;
  byte_writer out(bytes);
  record.encode(out);
  auto& text = of.options[std::string(record_option)];
  text.clear();
  append_base64(bytes, text);
}

result<std::unique_ptr<source>> make_source(const connector_registry& connectors,
                                            const source_spec& spec, const logical_type& output) {
  auto produced = std::make_shared<const logical_type>(output);
  auto options = spec.connector.options;
  const auto part = options.extract(std::string(record_option));
  if (part.empty())
    return connectors.create_source(spec.connector.name, options, std::move(produced));
  HEADRACE_TRY(auto record, decode_record(part.mapped()));
  HEADRACE_TRY(auto made,
               connectors.create_source(spec.connector.name, options,
                                        std::make_shared<const logical_type>(std::move(record))));
  auto* able = dynamic_cast<projectable_source*>(made.get());
  if (able == nullptr || !able->project(std::move(produced)))
    return error(errc::type_mismatch,
                 "source '" + spec.connector.name + "' gives whole records only");
  return made;
}

} // namespace headrace::graph
