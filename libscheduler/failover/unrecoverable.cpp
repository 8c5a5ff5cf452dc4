#include "libscheduler/failover/unrecoverable.hpp"

#include "libactors/base/data_errc.hpp"

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
  const auto is_there = [&](errc code) { return failure.has(code); };
  return std::any_of(codes.begin(), codes.end(), is_there) ||
         std::any_of(data_errc::all.begin(), data_errc::all.end(), is_there);
}

} // namespace headrace::scheduler
