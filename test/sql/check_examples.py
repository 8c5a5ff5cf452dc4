#!/usr/bin/env python3
"""Runs the examples of docs/sql.md and docs/open_data.md and compares what they print with what the
pages say. The data of the latter is open data, of scripts/open-data: without it they are passed over."""

import glob
import os
import re
import shutil
import subprocess
import sys

PATIENCE_S = 100


def shown_in(path):
    """Script and what it prints, of each example of a page."""
    page = open(path, encoding="utf-8").read()
    shown = re.findall(r"    \$ headrace run (\S+\.sql)\n((?:    .*\n|\n)*)", page)
    if len(shown) < 3:
        sys.exit(f"only {len(shown)} examples in {path}")
    return shown


def main():
    headrace, root = map(os.path.abspath, sys.argv[1:])
    shown = shown_in(root + "/docs/sql.md")
    open_data = shown_in(root + "/docs/open_data.md")
    if os.path.isdir(root + "/.cache/open-data"):
        shown += open_data
    else:
        print(f"{len(open_data)} examples without their data: scripts/open-data")
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
