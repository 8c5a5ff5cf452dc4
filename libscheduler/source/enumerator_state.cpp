#include "libscheduler/source/enumerator_state.hpp"

#include <string_view>

namespace headrace::scheduler {

namespace {

/// No connector of ours begins its state so: their first byte is a version.
constexpr std::string_view mark = "\xfeHRE";

std::string name_of(const graph::connector_spec& connector) {
  return connector.provider.is_none() ? connector.name : "of the job's code";
}

} // namespace

byte_string mark_enumerator_state(const graph::connector_spec& connector, byte_view state) {
  byte_string out;
  byte_writer writer(out);
  writer.put_raw(mark);
  writer.put_bytes(name_of(connector));
  writer.put_raw(state);
  return out;
}

result<byte_string> unmark_enumerator_state(const graph::connector_spec& connector,
                                            const std::string& source, byte_view stored) {
  if (!stored.starts_with(mark))
    return byte_string(stored);
  byte_reader in(stored.substr(mark.size()));
  const auto name = in.get_bytes();
  if (!name)
    return error(errc::corrupt_snapshot, "state of a source is corrupt: " + source, name.error());
  if (*name != name_of(connector))
    return error(errc::incompatible_state,
                 "state is of another kind of source: of `" + std::string(*name) +
                     "`, and the job's is `" + name_of(connector) +
                     "`: give it a uid of its own, and drop the state with "
                     "--allow-non-restored-state: " +
                     source);
  return byte_string(stored.substr(stored.size() - in.remaining()));
}

} // namespace headrace::scheduler
