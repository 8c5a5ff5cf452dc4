#pragma once

#include "libgraph/api/environment.hpp"
#include "libgraph/user_function/object_stamp.hpp"

/// Defines a job object: what stands behind it describes the job in the environment named `env`.
///
///     HEADRACE_JOB(env) {
///       env.from_source(...).map(...).print();
///     }
///
/// Once in a shared object that links libheadrace. It is run by the client, and again by each task
/// executor with the same arguments: it must describe the same job each time.
#define HEADRACE_JOB(env)                                                                          \
  static void headrace_job_describe(::headrace::api::environment& env);                            \
  extern "C" {                                                                                     \
  __attribute__((visibility("default"))) extern const char headrace_job_stamp[];                   \
  __attribute__((used, section(HEADRACE_STAMP_SECTION))) const char headrace_job_stamp[] =         \
      HEADRACE_STAMP;                                                                              \
  __attribute__((visibility("default"))) void                                                      \
  headrace_job_entry(::headrace::api::environment* environment);                                   \
  void headrace_job_entry(::headrace::api::environment* environment) {                             \
    headrace_job_describe(*environment);                                                           \
  }                                                                                                \
  }                                                                                                \
  static void headrace_job_describe([[maybe_unused]] ::headrace::api::environment& env)
