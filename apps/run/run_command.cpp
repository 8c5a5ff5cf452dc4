#include "apps/run/run_command.hpp"

#include "apps/cluster/job_settings.hpp"
#include "apps/cluster/mini_cluster.hpp"
#include "apps/run/job_runner.hpp"
#include "apps/run/run_sql.hpp"

namespace headrace::run {
namespace {

result<int> run_object(const run_options& given) {
  HEADRACE_TRY(const auto options, with_cluster_settings(given));
  const auto files = make_local_file_system();
  graph::connector_registry connectors;
  cluster::register_all_connectors(connectors, {});
  api::object_loader loader(*files, &connectors);
  HEADRACE_TRY(auto built, loader.build(options.job, options.arguments,
                                        default_parallelism(options, options.settings)));
  HEADRACE_TRY(const auto bounded, cluster::is_bounded(built.graph, *built.code, connectors));
  HEADRACE_CHECK(apply_options(options, options.settings, bounded, built.graph));
  HEADRACE_TRY(const auto runner,
               job_runner::start(*files, loader, options, cluster::slots_needed(built.graph)));
  return runner->run(built.graph, {{options.job}},
                     client::collected_rows::lines_to(client::print_to_standard_output));
}

} // namespace

int run_job(const run_options& options) {
  if (options.job.ends_with(".sql"))
    return run_sql(options);
  const auto code = run_object(options);
  if (code)
    return *code;
  const auto told = complain(code.error());
  return code.error().code == errc::job_object_unloadable ? bad_usage : told;
}

} // namespace headrace::run
