#pragma once

#include "libtask/format/json_options.hpp"
#include "libgraph/connector/format.hpp"

#include <memory>

namespace headrace::task {

/// Makes a decoder of JSON lines. @errors type_mismatch  a map's key is no scalar
result<std::unique_ptr<graph::decoder>> make_json_decoder(json_options options,
                                                          graph::row_type_ptr type);

} // namespace headrace::task
