#include "libactors/base/ids.hpp"

namespace headrace {
namespace {

void append_hex(std::uint64_t word, std::string& out) {
  for (int shift = 60; shift >= 0; shift -= 4) {
    out.push_back("0123456789abcdef"[(word >> static_cast<unsigned>(shift)) & 0xfU]);
  }
}

int hex_value(char letter) {
  if (letter >= '0' && letter <= '9') {
    return letter - '0';
  }
  if (letter >= 'a' && letter <= 'f') {
    return letter - 'a' + 10;
  }
  if (letter >= 'A' && letter <= 'F') {
    return letter - 'A' + 10;
  }
  return -1;
}

} // namespace

std::string to_hex(std::uint64_t high, std::uint64_t low) {
  std::string out;
  out.reserve(32);
  append_hex(high, out);
  append_hex(low, out);
  return out;
}

result<std::pair<std::uint64_t, std::uint64_t>> from_hex(std::string_view text) {
  if (text.size() != 32) {
    return error(errc::bad_usage, "an id has 32 hex digits: " + std::string(text));
  }
  std::uint64_t words[2] = {0, 0};
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int digit = hex_value(text[i]);
    if (digit < 0) {
      return error(errc::bad_usage, "an id has hex digits only: " + std::string(text));
    }
    words[i / 16] = words[i / 16] << 4U | static_cast<std::uint64_t>(digit);
  }
  return std::pair{words[0], words[1]};
}

std::string to_string(const execution_attempt_id& id) {
  const auto generation = id.generation == 0 ? std::string() : std::to_string(id.generation) + '.';
  return to_string(id.vertex) + '_' + std::to_string(id.subtask) + '_' + generation +
         std::to_string(id.attempt);
}

std::string to_string(const partition_id& id) {
  return to_string(id.result) + '@' + to_string(id.producer);
}

} // namespace headrace
