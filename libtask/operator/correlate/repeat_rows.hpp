#pragma once

#include "libtask/operator/correlate/table_rows.hpp"

#include <memory>

namespace headrace::task {

/// Each row as often as its one argument, a BIGINT, says; not at all where that is below 1, or
/// NULL. Makes no columns.
std::unique_ptr<table_rows> make_repeat_rows();

} // namespace headrace::task
