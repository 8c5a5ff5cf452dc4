#!/usr/bin/env python3
"""Checks the Markdown pages: that relative links lead somewhere, and that files they name exist."""

import re
import sys

from sources import ROOT, line_of, tracked

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE_BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
# A path in backticks that starts at the root: `libtask/input/watermark_valve.hpp`, `scripts/test`.
NAMED_PATH = re.compile(
    r"`((?:schema|libactors|libgraph|libstate|libtask|libscheduler|apps|test|bench|docs|tools"
    r"|scripts|\.ci)/[\w./+-]*)`")


def check(path, text, exists):
    """Yields (line, message) for each dead link or path of a page.

    `exists` says whether there is a file or folder of this name, from the root of the repository.
    """
    text = CODE_BLOCK.sub(lambda block: "\n" * block.group().count("\n"), text)
    folder = path.rpartition("/")[0]
    for match in LINK.finditer(text):
        target = match[1].split("#")[0]
        if target and not re.match(r"[a-z]+:", target):
            from_root = target[1:] if target.startswith("/") else f"{folder}/{target}".lstrip("/")
            if not exists(from_root):
                yield line_of(text, match.start()), f"dead link: {match[1]}"
    for match in NAMED_PATH.finditer(text):
        if not exists(match[1]):
            yield line_of(text, match.start()), f"no such file: {match[1]}"


def main():
    failed = False
    for path in tracked("*.md"):
        text = (ROOT / path).read_text(encoding="utf-8")
        for line, message in check(path, text, lambda name: (ROOT / name).exists()):
            print(f"{path}:{line}: {message}")
            failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main())
