// The windowed job as a job object, from files to the file sink.
//
//     headrace run libwindowed_job.so --target HOST:PORT -- --input DIR --output DIR
//       --rows-per-second N [--checkpoint-interval MS] [--at-least-once]
//       [--unaligned] [--row-us N] [--watch]

#include "test/support/windowed_job.hpp"

#include <chrono>
#include <functional>

namespace api = headrace::api;

constexpr int input_files = 4;

HEADRACE_JOB(env) {
  const auto& arguments = env.arguments();
  env.set_job_name("windowed");
  env.enable_checkpointing(std::chrono::milliseconds(arguments.get_int("checkpoint-interval", 200)),
                           arguments.has("at-least-once")
                               ? headrace::graph::barrier_alignment::at_least_once
                               : headrace::graph::barrier_alignment::exactly_once);
  if (arguments.has("unaligned"))
    env.enable_unaligned_checkpoints();
  std::function<void()> at_row;
  if (const auto row_us = arguments.get_int("row-us", 0); row_us > 0)
    at_row = headrace::testing::pause(std::chrono::microseconds(row_us));
  // A reader of two files would give one after the other: there is one for each, whatever the
  // parallelism of the rest.
  const auto clicks =
      headrace::testing::read_clicks(env, arguments.get("input"),
                                     arguments.get("rows-per-second", "0"), arguments.has("watch"))
          .set_parallelism(input_files);
  headrace::testing::find_in(clicks, at_row).sink_to(api::file_sink::csv(arguments.get("output")));
}
