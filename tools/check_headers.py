#!/usr/bin/env python3
"""Checks that each header compiles alone.

    tools/check_headers.py BUILD_DIRECTORY COMPILER...

A header is compiled again only when it, or a project file that it includes, has changed since it
last passed: a stamp in the build directory remembers the hash of them all.
"""

import hashlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sources import INCLUDE, ROOT, tracked

FLAGS = ["-std=c++20", "-O0", "-fsyntax-only", "-w", "-x", "c++"]


def closure(path, root, known=None):
    """Returns the file and all project files that it includes, directly or not."""
    known = {} if known is None else known
    if path in known:
        return known
    source = root / path
    if path.endswith(".capnp.h"):  # generated, so its schema stands for it
        source = root / path.removesuffix(".h")
    if not source.is_file():
        return known
    text = source.read_text(encoding="utf-8")
    known[path] = text
    for match in INCLUDE.finditer(text):
        if match[1] == '"':
            closure(match[2], root, known)
    return known


def stamp_of(path, compiler, root):
    digest = hashlib.sha256(" ".join([*compiler, *FLAGS]).encode())
    for name, text in sorted(closure(path, root).items()):
        digest.update(f"\0{name}\0{text}".encode())
    return digest.hexdigest()


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
    headers = [path for path in tracked("*.hpp") if not path.startswith("pch/")]
    jobs = int(os.environ.get("HEADRACE_JOBS", os.cpu_count() or 1))
    with ThreadPoolExecutor(jobs) as pool:
        complaints = list(pool.map(lambda path: check(path, build, list(compiler)), headers))
    for path, complaint in zip(headers, complaints):
        if complaint:
            print(f"{path}: does not compile alone\n{complaint}")
    return any(complaints)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
