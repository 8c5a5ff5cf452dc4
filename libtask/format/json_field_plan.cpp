#include "libtask/format/json_field_plan.hpp"

#include <algorithm>

namespace headrace::task {
namespace {
constexpr std::size_t guesses_max = 256;
constexpr std::size_t guessed_name_bytes_max = 256;
} // namespace

json_field_plan::json_field_plan(const graph::logical_type& type)
    : type_(&type), seen_(type.fields().size()) {
  for (const auto& field : type.fields())
    sorted_.emplace_back(field.name, static_cast<int>(sorted_.size()));
  std::sort(sorted_.begin(), sorted_.end());
}

int json_field_plan::search(std::string_view name, std::size_t place) {
  const auto found = std::lower_bound(
      sorted_.begin(), sorted_.end(), name,
      [](const auto& entry, std::string_view wanted) { return entry.first < wanted; });
  const auto index = found == sorted_.end() || found->first != name ? -1 : found->second;
  if (place < guesses_max && name.size() <= guessed_name_bytes_max) {
    if (guesses_.size() <= place)
      guesses_.resize(place + 1);
    auto& guessed = guesses_[place];
    guessed.name.assign(name);
    guessed.index = index;
    guessed.text = {};
    guessed.mask = {};
    const bool is_plain = name.find_first_of("\"\\") == name.npos;
    guessed.bytes = is_plain && name.size() < sizeof(quoted) ? name.size() + 1 : 0;
    if (guessed.bytes > 0) {
      const auto text = guessed.name + '"';
      std::memcpy(guessed.text.data(), text.data(), guessed.bytes);
      std::memset(guessed.mask.data(), 0xff, guessed.bytes);
    }
  }
  return index;
}

} // namespace headrace::task
