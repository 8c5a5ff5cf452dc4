#!/usr/bin/env python3
"""Runs clang-tidy over sources, but not over those that passed and have not changed since.

    tools/run_clang_tidy.py BUILD_DIRECTORY [FILE...]
"""

import fnmatch
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sources import ROOT, closure_hash, tracked

CLANG_TIDY = "clang-tidy-14"


def check(path, build):
    """Returns the findings in a source and in the headers that it includes."""
    salt = (ROOT / ".clang-tidy").read_text(encoding="utf-8")
    stamp = build / "tidy-stamps" / closure_hash(path, salt=salt)
    if stamp.exists():
        return ""
    run = subprocess.run([CLANG_TIDY, "--quiet", "-p", build, path], cwd=ROOT, capture_output=True,
                         text=True, check=False)
    if run.returncode != 0:
        return run.stdout or run.stderr
    stamp.parent.mkdir(exist_ok=True)
    stamp.touch()
    return ""


def main(build, *paths):
    build = Path(build).resolve()
    if not paths:
        paths = [path for path in tracked("*.cpp") if fnmatch.fnmatch(path, "lib*")
                 or fnmatch.fnmatch(path, "apps/*")]
    failed = False
    jobs = int(os.environ.get("HEADRACE_JOBS", os.cpu_count() or 1))
    with ThreadPoolExecutor(jobs) as pool:
        for findings in pool.map(lambda path: check(path, build), paths):
            if findings:
                print(findings, flush=True)
                failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
