#include "libscheduler/failover/unrecoverable.hpp"

#include <algorithm>
#include <array>

namespace headrace::scheduler {
namespace {

constexpr std::array codes = {
    errc::unknown_option,          errc::bad_option_value,      errc::bad_usage,
    errc::invalid_graph,           errc::type_mismatch,         errc::duplicate_uid,
    errc::job_object_incompatible, errc::job_object_unloadable, errc::graph_mismatch,
    errc::unknown_operator,        errc::input_not_found,       errc::unknown_connector,
    errc::output_unusable,         errc::input_unreadable,      errc::malformed_record,
    errc::corrupt_snapshot,        errc::incompatible_state,    errc::unsupported_snapshot_version,
};

} // namespace

bool is_unrecoverable(const error& failure) {
  return std::any_of(codes.begin(), codes.end(), [&](errc code) { return failure.has(code); });
}

} // namespace headrace::scheduler
