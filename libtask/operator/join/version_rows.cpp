#include "libtask/operator/join/version_rows.hpp"

namespace headrace::task {

void put_version_row(const version_row& row, byte_string& out) {
  byte_writer writer(out);
  writer.put(row.time_ms);
  writer.put(static_cast<std::uint8_t>(row.kind));
  writer.put_bytes(row.row);
}

result<std::vector<version_row>> read_version_rows(byte_view from) {
  std::vector<version_row> out;
  byte_reader in(from);
  while (!in.at_end()) {
    version_row each;
    HEADRACE_TRY(each.time_ms, in.get<std::int64_t>());
    HEADRACE_TRY(const auto kind, in.get<std::uint8_t>());
    if (kind > static_cast<std::uint8_t>(graph::row_kind::delete_))
      return error(errc::malformed_message, "no kind of a row: " + std::to_string(kind));
    each.kind = static_cast<graph::row_kind>(kind);
    HEADRACE_TRY(each.row, in.get_bytes());
    out.push_back(each);
  }
  return out;
}

} // namespace headrace::task
