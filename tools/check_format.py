#!/usr/bin/env python3
"""Checks that the C++ sources are laid out as .clang-format says; --fix lays them out."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CLANG_FORMAT = "clang-format-14"  # versions disagree, so the one of Debian 12 decides


def misformatted(paths):
    """Returns those of the paths that clang-format would change."""
    if not paths:
        return []
    run = subprocess.run(
        [CLANG_FORMAT, "--style=file", "--dry-run", "--Werror", "--ferror-limit=1", *paths],
        cwd=ROOT, capture_output=True, text=True, check=False)
    named = {line.split(":")[0] for line in run.stderr.splitlines() if ": error: " in line}
    if run.returncode != 0 and not named:
        sys.exit(run.stderr)
    return [path for path in paths if path in named]


def sources():
    listed = subprocess.run(["git", "ls-files", "*.hpp", "*.cpp"], cwd=ROOT, capture_output=True,
                            text=True, check=True).stdout.splitlines()
    return [path for path in listed if (ROOT / path).exists()]


def main(arguments):
    wrong = misformatted(sources())
    if "--fix" in arguments:
        if wrong:
            subprocess.run([CLANG_FORMAT, "--style=file", "-i", *wrong], cwd=ROOT, check=True)
        return 0
    for path in wrong:
        print(f"{path}: not laid out as .clang-format says (tools/check_format.py --fix)")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
