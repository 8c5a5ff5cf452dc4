#include "libstate/registry/state_backends.hpp"

#include "libstate/heap/heap_backend.hpp"
#include "libstate/rocksdb/rocksdb_backend.hpp"
#include "libactors/base/text.hpp"

#include <array>
#include <utility>

namespace headrace::state {

result<std::unique_ptr<state_backend>>
make_state_backend(std::string_view name, std::uint64_t memory_bytes, std::int32_t read_threads) {
  static constexpr std::array<std::string_view, 2> known = {"hashmap", "rocksdb"};
  if (name == known[0]) {
    std::unique_ptr<state_backend> made = std::make_unique<heap_state_backend>();
    return made;
  }
  if (name == known[1]) {
    batch_reading reading;
    if (read_threads > 0)
      reading.threads = std::make_shared<state::read_threads>(read_threads);
    std::unique_ptr<state_backend> made = std::make_unique<rocksdb_state_backend>(
        memory_bytes, rocksdb_state_backend::inline_bytes_usual, std::move(reading));
    return made;
  }
  const auto nearest = nearest_name(name, known);
  return error(errc::bad_option_value,
               "unknown state backend: `" + std::string(name) + "`, " +
                   (nearest.empty() ? "known are hashmap and rocksdb"
                                    : "did you mean `" + std::string(nearest) + "`"));
}

} // namespace headrace::state
