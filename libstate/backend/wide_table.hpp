#pragma once

#include "libstate/backend/keyed_backend.hpp"

#include <cstddef>
#include <memory>

namespace headrace::state {

/// Values of a fixed layout are at most this wide, in a wide table.
inline constexpr std::size_t wide_bytes_max = std::size_t{64} << 10U;

/// Opens a table of values of a fixed layout that may be wider than
/// `value_layout::fixed_bytes_max`: then it is several tables side by side, with the same keys, the
/// further ones called NAME-2, NAME-3, …, and each `locate` copies its rows together, `write_back`
/// apart.
///
///     NAME      | 1024 bytes |                      a located row
///     NAME-2    | 1024 bytes |         ◀──▶     | 1024 | 1024 | 80 |
///     NAME-3    | 80 bytes |
///
/// Of what is narrow it is the backend's own table. The keys of a `locate` live until its
/// `write_back`.
/// @param keeper  gets what is to live as long as the table is used; nothing of a narrow one
/// @errors those of `keyed_backend::open_table`
result<keyed_table*> open_wide_table(keyed_backend& backend, const state_description& wanted,
                                     std::unique_ptr<keyed_table>& keeper);

} // namespace headrace::state
