#!/usr/bin/env python3
"""Checks the sources for what the compilers do not: seams that are bypassed, and matters of form.

Clock, random numbers, threads and files are injected, so that the simulation can replace them; each
has one home where the real thing is used. Where a line must break a rule, it says so and why:

    const char* home = std::getenv("HOME"); // lint(environment): the shell's history file
"""

import fnmatch
import re
import sys

from sources import ROOT, line_of, tracked, without_comments_and_strings

LINES_MAX = 800

# Rule, what it finds, what to do instead, where it is allowed.
RULES = [
    ("clock", r"\w+_clock::now\b|\b(clock_gettime|gettimeofday)\s*\("
              r"|(?<![\w.>:])(std::|::)?time\s*\(\s*(nullptr|NULL|0|&\w+)\s*\)",
     "ask the clock that was passed",
     ["libactors/base/clock*.cpp", "apps/*", "bench/*", "test/support/*", "test/integration/*"]),
    ("random", r"\brandom_device\b|(?<![\w.>:])(std::|::)?s?rand\s*\(|\bdefault_random_engine\b"
               r"|\bmt19937(_64)?(\s+\w+\s*;|(\s+\w+)?\s*(\{\s*\}|\(\s*\)))",
     "draw from the random that was passed",
     ["libactors/base/random*.cpp", "apps/*", "bench/*", "test/support/*"]),
    ("thread", r"\bstd::j?thread\b(?!::)|\bstd::async\b|\bpthread_create\b",
     "hand the work to the executor",
     ["libactors/base/*executor*.cpp", "libactors/rpc/*spawner*", "libactors/rpc/*node*",
      "apps/*", "bench/*", "test/*"]),
    ("sleep", r"\bsleep_(for|until)\b|\b(usleep|nanosleep)\s*\(|(?<![\w.>])(std::|::)?sleep\s*\(",
     "set a timer; in tests move a manual_clock",
     ["libactors/base/clock*.cpp", "bench/*", "test/support/*"]),
    ("files", r"\b(fopen|opendir|mkstemp)\s*\(|\b[io]?fstream\b|(?<![\w>])::(open|unlink|rename)\s*\("
              r"|\bfilesystem::(?!path\b)\w+|namespace\s+\w+\s*=\s*std::filesystem",
     "use the file_system that was passed",
     ["libactors/base/file_system*.cpp", "apps/*", "bench/*", "test/*"]),
    ("environment", r"\b(secure_)?getenv\s*\(",
     "take it from the configuration",
     ["apps/*", "bench/*", "test/support/*"]),
]

BANNED_NAMES = {"util", "utils", "utility", "utilities", "helper", "helpers", "common", "misc"}
ALLOWANCE = re.compile(r"//\s*lint\((\w+)\):\s*\S")
TODO = re.compile(r"\b(TODO|FIXME|XXX)\b(?!\([^)\s][^)]*\))")


def check_name(path):
    for part in path.split("/"):
        for word in re.split(r"[_.\-]", part):
            if word in BANNED_NAMES:
                yield 1, f"`{word}` names no thing: call the file after what it holds"


def check_seams(path, text):
    lines = text.splitlines()
    code = without_comments_and_strings(text)
    for rule, pattern, instead, homes in RULES:
        if any(fnmatch.fnmatch(path, home) for home in homes):
            continue
        for match in re.finditer(pattern, code):
            line = line_of(code, match.start())
            allowed = ALLOWANCE.search(lines[line - 1])
            if not (allowed and allowed[1] == rule):
                yield line, f"{rule}: `{match.group().strip()}` bypasses the seam: {instead}"


def check_form(path, text):
    count = text.count("\n")
    if count > LINES_MAX:
        yield count, f"{count} lines, {LINES_MAX} are the most: split the file"
    for match in TODO.finditer(text):
        yield line_of(text, match.start()), f"{match[1]} without a reason: {match[1]}(reason)"
    if path.endswith(".hpp"):
        code = without_comments_and_strings(text)
        is_precompiled = path.endswith("_pch.hpp")  # compiled alone, where the pragma is a warning
        if not is_precompiled and not re.search(r"^#pragma once$", code, re.MULTILINE):
            yield 1, "a header starts with #pragma once"
        for match in re.finditer(r"\busing\s+namespace\b", code):
            yield line_of(code, match.start()), "no using namespace in a header"


def check(path, text):
    """Yields (line, message) for each finding in a file."""
    yield from check_name(path)
    yield from check_form(path, text)
    if not path.endswith(".py"):
        yield from check_seams(path, text)


def main():
    failed = False
    for path in tracked("*.hpp", "*.cpp", "*.py"):
        if path.startswith(("tools/lint", "test/tools/")):
            continue
        for line, message in check(path, (ROOT / path).read_text(encoding="utf-8")):
            print(f"{path}:{line}: {message}")
            failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main())
