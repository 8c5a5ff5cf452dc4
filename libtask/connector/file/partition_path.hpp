#pragma once

#include "libgraph/data/record_batch.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::task {

/// The values of a partition, by its keys; nothing is NULL.
using partition_values = std::vector<std::optional<std::string>>;

/// The directory of a partition below that of its table, as Hive, Flink and Spark have it:
/// "dt=2024-02-29/hm=12%3A30". What names of files cannot hold is escaped.
/// @param missing  stands for NULL and for the empty text
std::string partition_path(std::span<const std::string> keys, const partition_values& values,
                           std::string_view missing);

/// Reads what `partition_path` wrote off the directories at the end of `directory`; nothing when
/// they are no partition of these keys.
std::optional<partition_values> parse_partition(std::span<const std::string> keys,
                                                std::string_view directory,
                                                std::string_view missing);

/// The option `partition.keys`: names with commas between.
std::vector<std::string> split_partition_keys(std::string_view text);
/// The fields that are none of these.
graph::row_type_ptr without_columns(const graph::logical_type& type,
                                    std::span<const std::string> names);

} // namespace headrace::task
