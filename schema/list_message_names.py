#!/usr/bin/env python3
"""Writes message_names.cpp: a table of the messages' type ids and names, for people who look."""

import pathlib
import re
import sys

output, *schemas = map(pathlib.Path, sys.argv[1:])
lines = ['#include "schema/message_names.hpp"', ""]
lines += [f'#include "schema/{path.name}.h"' for path in schemas]
lines += ["", "#include <algorithm>", "#include <array>", "#include <utility>", "",
          "namespace headrace::schema {", "", "std::string_view message_name(std::uint64_t type_id) {",
          "  static constexpr std::pair<std::uint64_t, std::string_view> names[] = {"]
for path in schemas:
    for name in re.findall(r"^struct (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE):
        lines.append(f'      {{capnp::typeId<{name}>(), "{name}"}},')
lines += ["  };", "  const auto* found = std::find_if(std::begin(names), std::end(names),",
          "                                   [&](const auto& one) { return one.first == type_id; });",
          "  return found == std::end(names) ? std::string_view() : found->second;", "}", "",
          "} // namespace headrace::schema", ""]
output.write_text("\n".join(lines), encoding="utf-8")
