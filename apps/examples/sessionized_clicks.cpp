// Groups the clicks of a user into sessions, which end after a gap in event time.
//
//     headrace run libsessionized_clicks.so -- --input clicks.csv [--gap-ms 30000]
//
// Lines of the input: user,page,time in milliseconds, out of order by at most 5 s.

#include "libgraph/api/headrace.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

namespace api = headrace::api;
using namespace std::chrono_literals;

struct click {
  std::string user;
  std::string page;
  std::int64_t time_ms = 0;
};
HEADRACE_STRUCT(click, user, page, time_ms)

struct session {
  std::string user;
  std::int64_t start_ms = 0;
  std::int64_t end_ms = 0;
  std::int64_t clicks = 0;
};
HEADRACE_STRUCT(session, user, start_ms, end_ms, clicks)

/// Keeps the open session of each user, and a timer at its end.
class sessionize final : public api::keyed_process_function<std::string, click, session> {
public:
  explicit sessionize(std::int64_t gap_ms) : gap_ms_(gap_ms) {}

  void open(api::open_context& context) override { open_ = context.value<session>("open session"); }

  void process(const click& in, context_type& context, api::collector<session>& out) override {
    const session alone{in.user, in.time_ms, in.time_ms, 0};
    auto now = open_.value_or(alone);
    if (in.time_ms < now.start_ms - gap_ms_) { // long before the open session
      out.emit({in.user, in.time_ms, in.time_ms, 1});
      return;
    }
    if (now.clicks > 0)
      context.delete_event_timer(now.end_ms + gap_ms_);
    if (in.time_ms > now.end_ms + gap_ms_) { // the watermark has not closed it yet
      out.emit(now);
      now = alone;
    }
    now.start_ms = std::min(now.start_ms, in.time_ms);
    now.end_ms = std::max(now.end_ms, in.time_ms);
    ++now.clicks;
    open_.set(now);
    context.register_event_timer(now.end_ms + gap_ms_);
  }

  void on_timer(std::int64_t, context_type&, api::collector<session>& out) override {
    if (const auto ended = open_.get())
      out.emit(*ended);
    open_.clear();
  }

private:
  std::int64_t gap_ms_;
  api::value_state<session> open_;
};

HEADRACE_JOB(env) {
  const auto input = env.arguments().get("input");
  const auto gap_ms = env.arguments().get_int("gap-ms", 30'000);

  env.set_job_name("sessions");
  env.from_source(
         api::file_source::csv<click>(input),
         api::watermark_strategy<click>::bounded_out_of_orderness(5s).with_timestamp_assigner(
             &click::time_ms))
      .key_by(&click::user)
      .process(sessionize(gap_ms))
      .name("sessions")
      .uid("sessions")
      .print();
}
