#include "libgraph/user_function/user_function.hpp"

namespace headrace::graph {
namespace {

constexpr std::uint8_t version = 1;
constexpr std::size_t parameters_max = 1000;

error unknown(const char* what, unsigned number) {
  return {errc::malformed_message,
          "user function with an unknown " + std::string(what) + ": " + std::to_string(number)};
}

} // namespace

byte_string encode(const user_function& from) {
  byte_string bytes;
  byte_writer out(bytes);
  out.put(version);
  out.put_bytes(from.name);
  out.put(from.form);
  out.put(from.language);
  for (const bool flag : {from.is_deterministic, from.has_retract, from.has_merge})
    out.put(static_cast<std::uint8_t>(flag));
  out.put_varint(from.parameters.size());
  for (const auto& each : from.parameters) {
    out.put_bytes(each.name);
    each.type.encode(out);
  }
  from.result.encode(out);
  out.put_bytes(from.source);
  out.put_bytes(from.symbol);
  out.put(from.limits.memory_bytes);
  out.put(from.limits.instructions);
  return bytes;
}

result<user_function> decode_user_function(byte_view in) {
  byte_reader from(in);
  user_function out;
  HEADRACE_TRY(const auto written, from.get<std::uint8_t>());
  if (written != version)
    return unknown("version", written);
  HEADRACE_TRY(const auto name, from.get_bytes());
  out.name = std::string(name);
  HEADRACE_TRY(const auto form, from.get<std::uint8_t>());
  HEADRACE_TRY(const auto language, from.get<std::uint8_t>());
  if (form > static_cast<std::uint8_t>(user_form::aggregate))
    return unknown("form", form);
  if (language > static_cast<std::uint8_t>(user_language::cpp))
    return unknown("language", language);
  out.form = static_cast<user_form>(form);
  out.language = static_cast<user_language>(language);
  for (auto* flag : {&out.is_deterministic, &out.has_retract, &out.has_merge}) {
    HEADRACE_TRY(const auto read, from.get<std::uint8_t>());
    *flag = read != 0;
  }
  HEADRACE_TRY(const auto count, from.get_varint());
  if (count > parameters_max)
    return unknown("number of parameters", static_cast<unsigned>(count));
  for (std::uint64_t i = 0; i < count; ++i) {
    HEADRACE_TRY(const auto label, from.get_bytes());
    HEADRACE_TRY(auto type, logical_type::decode(from));
    out.parameters.push_back({std::string(label), std::move(type), {}});
  }
  HEADRACE_TRY(out.result, logical_type::decode(from));
  HEADRACE_TRY(const auto source, from.get_bytes());
  HEADRACE_TRY(const auto symbol, from.get_bytes());
  out.source = std::string(source);
  out.symbol = std::string(symbol);
  HEADRACE_TRY(out.limits.memory_bytes, from.get<std::uint64_t>());
  HEADRACE_TRY(out.limits.instructions, from.get<std::uint64_t>());
  return out;
}

} // namespace headrace::graph
