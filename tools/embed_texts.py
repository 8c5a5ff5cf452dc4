#!/usr/bin/env python3
"""Makes a C++ source of files, so that a program has them with it.

    embed_texts.py OUTPUT HEADER FUNCTION FILE...

The source includes HEADER, which declares `std::span<const embedded_text> FUNCTION()` in the
namespace headrace, with texts sorted by their names: those of the files, without directory and suffix.
"""

import os
import sys


def main():
    output, header, function, *files = sys.argv[1:]
    texts = sorted((os.path.splitext(os.path.basename(path))[0], path) for path in files)
    out = [f'#include "{header}"', "", "#include <array>", "", "namespace headrace {", "namespace {", ""]
    out.append(f"constexpr std::array<embedded_text, {len(texts)}> texts{{{{")
    for name, path in texts:
        text = open(path, encoding="utf-8").read()
        if ')text"' in text:
            sys.exit(f"{path}: cannot stand in a raw string")
        out.append(f'{{"{name}", R"text({text})text"}},')
    out += ["}};", "", "} // namespace", ""]
    out.append(f"std::span<const embedded_text> {function}() {{ return texts; }}")
    out += ["", "} // namespace headrace", ""]
    open(output, "w", encoding="utf-8").write("\n".join(out))


if __name__ == "__main__":
    main()
