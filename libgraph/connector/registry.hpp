#pragma once

#include "libgraph/connector/format.hpp"
#include "libgraph/connector/sink.hpp"
#include "libgraph/connector/source.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace headrace::graph {

/// Finds connectors and formats by name. Filled by apps/cluster, then only read: any thread.
class connector_registry {
public:
  using source_factory = std::function<result<std::unique_ptr<source>>(
      const connector_registry&, const option_map&, row_type_ptr)>;
  using sink_factory = std::function<result<std::unique_ptr<sink>>(
      const connector_registry&, const option_map&, row_type_ptr)>;
  using format_factory = std::function<result<std::unique_ptr<format>>(const option_map&)>;

  void add_source(std::string name, source_factory factory);
  void add_sink(std::string name, sink_factory factory);
  void add_format(std::string name, format_factory factory);

  /// @errors unknown_connector  names the nearest, and lists those that exist
  result<std::unique_ptr<source>> create_source(const std::string& name, const option_map& options,
                                                row_type_ptr type) const;
  result<std::unique_ptr<sink>> create_sink(const std::string& name, const option_map& options,
                                            row_type_ptr type) const;
  result<std::unique_ptr<format>> create_format(const std::string& name,
                                                const option_map& options) const;

private:
  std::map<std::string, source_factory> sources_;
  std::map<std::string, sink_factory> sinks_;
  std::map<std::string, format_factory> formats_;
};

} // namespace headrace::graph
