#!/usr/bin/env python3
"""Checks that the C++ sources are laid out as .clang-format says; --fix lays them out."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from sources import ROOT, tracked

CLANG_FORMAT = "clang-format-14"  # versions disagree, so the one of Debian 12 decides


def formatted(path):
    """Returns the file's text as it should be.

    Compares by text: a dry run also reports edits that change nothing, such as the comment at the
    end of each TEST_SUITE.
    """
    return subprocess.run([CLANG_FORMAT, "--style=file", str(path)], capture_output=True,
                          check=True).stdout


def misformatted(paths):
    """Yields (path, text as it should be) for each that differs from it."""
    with ThreadPoolExecutor() as pool:
        for path, wanted in zip(paths, pool.map(formatted, paths)):
            if path.read_bytes() != wanted:
                yield path, wanted


def main(arguments):
    failed = False
    for path, wanted in misformatted([ROOT / name for name in tracked("*.hpp", "*.cpp")]):
        if "--fix" in arguments:
            path.write_bytes(wanted)
        else:
            failed = True
            print(f"{path.relative_to(ROOT)}: not laid out (tools/check_format.py --fix)")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
