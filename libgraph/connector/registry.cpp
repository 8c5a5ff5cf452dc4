#include "libgraph/connector/registry.hpp"

#include "libactors/base/text.hpp"

namespace headrace::graph {
namespace {

template <class Factories>
error unknown(const char* what, const std::string& name, const Factories& factories) {
  std::vector<std::string_view> names;
  std::vector<std::string> listed;
  for (const auto& [known, factory] : factories) {
    names.push_back(known);
    listed.push_back(known);
  }
  std::string words = std::string("unknown ") + what + ": \"" + name + "\"";
  if (const auto nearest = nearest_name(name, names); !nearest.empty())
    words += ", did you mean \"" + std::string(nearest) + "\"";
  words += listed.empty() ? std::string(", none is known") : ", known: " + join_text(listed, ", ");
  return {errc::unknown_connector, std::move(words)};
}

} // namespace

void connector_registry::add_source(std::string name, source_factory factory) {
  HEADRACE_ASSERT(factory != nullptr, "a source without factory");
  sources_.insert_or_assign(std::move(name), std::move(factory));
}

void connector_registry::add_sink(std::string name, sink_factory factory) {
  HEADRACE_ASSERT(factory != nullptr, "a sink without factory");
  sinks_.insert_or_assign(std::move(name), std::move(factory));
}

void connector_registry::add_format(std::string name, format_factory factory) {
  HEADRACE_ASSERT(factory != nullptr, "a format without factory");
  formats_.insert_or_assign(std::move(name), std::move(factory));
}

result<std::unique_ptr<source>> connector_registry::create_source(const std::string& name,
                                                                  const option_map& options,
                                                                  row_type_ptr type) const {
  const auto found = sources_.find(name);
  if (found == sources_.end())
    return unknown("source connector", name, sources_);
  return found->second(*this, options, std::move(type));
}

result<std::unique_ptr<sink>> connector_registry::create_sink(const std::string& name,
                                                              const option_map& options,
                                                              row_type_ptr type) const {
  const auto found = sinks_.find(name);
  if (found == sinks_.end())
    return unknown("sink connector", name, sinks_);
  return found->second(*this, options, std::move(type));
}

result<std::unique_ptr<format>> connector_registry::create_format(const std::string& name,
                                                                  const option_map& options) const {
  const auto found = formats_.find(name);
  if (found == formats_.end())
    return unknown("format", name, formats_);
  return found->second(options);
}

} // namespace headrace::graph
