#include "libgraph/function/user_metrics_codec.hpp"

#include <cstddef>
#include <cstdint>

namespace headrace::graph {

void write_user_figures(schema::TaskMetrics::Builder out, const std::vector<user_figure>& figures) {
  if (figures.empty())
    return;
  auto list = out.initUser(static_cast<unsigned>(figures.size()));
  for (std::size_t i = 0; i < figures.size(); ++i) {
    auto to = list[static_cast<unsigned>(i)];
    to.setKind(static_cast<std::uint8_t>(figures[i].kind));
    to.setOperatorName(figures[i].operator_name);
    to.setName(figures[i].name);
    to.setInteger(figures[i].integer);
    to.setReal(figures[i].real);
    to.setCount(figures[i].count);
  }
}

std::vector<user_figure> read_user_figures(schema::TaskMetrics::Reader in) {
  std::vector<user_figure> out;
  for (const auto figure : in.getUser())
    if (figure.getKind() < metric_kind_count)
      out.push_back({static_cast<metric_kind>(figure.getKind()), figure.getOperatorName().cStr(),
                     figure.getName().cStr(), figure.getInteger(), figure.getReal(),
                     figure.getCount()});
  return out;
}

} // namespace headrace::graph
