#!/usr/bin/env python3
"""Runs the examples of docs/sql.md and compares what they print with what the page says."""

import glob
import os
import re
import shutil
import subprocess
import sys

PATIENCE_S = 100


def main():
    headrace, root = map(os.path.abspath, sys.argv[1:])
    page = open(root + "/docs/sql.md", encoding="utf-8").read()
    shown = re.findall(r"    \$ headrace run (\S+\.sql)\n((?:    .*\n|\n)*)", page)
    if len(shown) < 3:
        print(f"only {len(shown)} examples on the page")
        return 1
    for directory in glob.glob("/tmp/headrace-example-*"):
        shutil.rmtree(directory)  # a second run adds to what is there
    failures = 0
    for path, block in shown:
        wanted = [line[4:].rstrip() for line in block.rstrip().split("\n")]
        ended = subprocess.run(
            [headrace, "run", path, "-q"], cwd=root, text=True, timeout=PATIENCE_S,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        got = [line.rstrip() for line in ended.stdout.rstrip().split("\n")]
        if ended.returncode != 0 or got != wanted:
            failures += 1
            print(f"{path}: code {ended.returncode}\n{ended.stdout}{ended.stderr}")
    print(f"{len(shown)} examples, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
