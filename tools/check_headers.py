#!/usr/bin/env python3
"""Checks that each header compiles alone.

    tools/check_headers.py BUILD_DIRECTORY COMPILER...

A header is compiled again only when it, or a project file that it includes, has changed since it
last passed: a stamp in the build directory remembers the hash of them all.
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sources import ROOT, closure_hash, tracked

FLAGS = ["-std=c++20", "-O0", "-fsyntax-only", "-w", "-x", "c++"]


def stamp_of(path, compiler, root):
    return closure_hash(path, root, salt=" ".join([*compiler, *FLAGS]))


def check(path, build, compiler, root=ROOT):
    """Returns what the compiler said against the header, nothing when it compiles alone."""
    stamp = build / "header-stamps" / stamp_of(path, compiler, root)
    if stamp.exists():
        return ""
    run = subprocess.run([*compiler, *FLAGS, f"-I{root}", f"-I{build}", str(root / path)],
                         capture_output=True, text=True, check=False)
    if run.returncode != 0:
        return run.stderr or f"{path}: exit code {run.returncode}"
    stamp.parent.mkdir(exist_ok=True)
    stamp.touch()
    return ""


def main(build, *compiler):
    build = Path(build).resolve()
    headers = tracked("*.hpp")
    jobs = int(os.environ.get("HEADRACE_JOBS", os.cpu_count() or 1))
    with ThreadPoolExecutor(jobs) as pool:
        complaints = list(pool.map(lambda path: check(path, build, list(compiler)), headers))
    for path, complaint in zip(headers, complaints):
        if complaint:
            print(f"{path}: does not compile alone\n{complaint}")
    return any(complaints)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
