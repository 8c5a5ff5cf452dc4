#!/usr/bin/env python3
"""Sums the test cases in a testlog.json of Meson and shows what failed.

A doctest or unittest program counts its cases, any other test counts as one. The last line printed
is `N passed, N failed`; the exit code is 1 when a case failed or when none ran.
"""

import json
import re
import sys

DOCTEST = re.compile(r"\[doctest\] test cases:\s*\d+ \|\s*(\d+) passed \|\s*(\d+) failed")
UNITTEST = re.compile(r"^Ran (\d+) tests? in ", re.MULTILINE)
UNITTEST_FAILURE = re.compile(r"^FAILED \((.*)\)$", re.MULTILINE)


def count(stdout, stderr, succeeded):
    """Returns how many cases of one test program passed and failed."""
    if found := DOCTEST.findall(stdout):
        passed, failed = (sum(int(pair[i]) for pair in found) for i in (0, 1))
    elif found := UNITTEST.findall(stderr):
        counts = UNITTEST_FAILURE.findall(stderr)
        failed = sum(
            int(number)
            for text in counts
            for number in re.findall(r"(?:failures|errors)=(\d+)", text)
        )
        passed = sum(map(int, found)) - failed
    else:
        passed, failed = (1, 0) if succeeded else (0, 1)
    if not succeeded and failed == 0:
        failed = 1  # all its cases passed, then it crashed, leaked or hung
    return passed, failed


def main(path):
    passed = failed = 0
    try:
        with open(path, encoding="utf-8") as log:
            runs = [json.loads(line) for line in log if line.strip()]
    except FileNotFoundError:
        runs = []
    for run in runs:
        if run["result"] == "SKIP":
            continue
        succeeded = run["result"] in ("OK", "EXPECTEDFAIL")
        stdout, stderr = run.get("stdout", ""), run.get("stderr", "")
        run_passed, run_failed = count(stdout, stderr, succeeded)
        passed += run_passed
        failed += run_failed
        if not succeeded:
            print(f"\n==== {run['name']}: {run['result']} ====\n{stdout}{stderr}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed > 0 or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
