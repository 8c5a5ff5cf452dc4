#pragma once

#include "libactors/base/error.hpp"

#include <array>

namespace headrace::data_errc {

// What a value does wrong when a query computes with it: codes beside those of `errc`, and like
// these for ever. None of them heals by a restart. Records that a format cannot read are
// `errc::malformed_record`.

inline constexpr errc division_by_zero{2101};
inline constexpr errc cast_failed{2102};         ///< a value that the type has not
inline constexpr errc value_refused{2103};       ///< an argument that a function does not take
inline constexpr errc constraint_violated{2104}; ///< NOT NULL, or the length of a table's column
inline constexpr errc row_time_missing{2105};    ///< NULL where event time is told
inline constexpr errc match_stuck{2106};         ///< AFTER MATCH SKIP TO a row that is none
inline constexpr errc user_code_failed{2107};    ///< a user's function of SQL raised an error

inline constexpr std::array all{division_by_zero, cast_failed, value_refused,   constraint_violated,
                                row_time_missing, match_stuck, user_code_failed};

} // namespace headrace::data_errc
