#!/usr/bin/env python3
"""Runs the example of rules that are broadcast, at several parallelisms: stock_rules_test.py
HEADRACE STOCK_RULES.so EXAMPLES_DIRECTORY"""

import pathlib
import subprocess
import sys

HEADRACE, JOB, EXAMPLES = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])


def expected_findings(trades, rules):
    times = {}
    for stock, time_ms, price in trades:
        held = [rule for rule in rules if rule[1] == stock and rule[0] <= time_ms]
        if not held or max(held)[2] <= price <= max(held)[3]:
            continue
        times[stock] = times.get(stock, 0) + 1
        yield time_ms, stock, price, times[stock]


def read(name, types):
    lines = (EXAMPLES / "data" / name).read_text().splitlines()
    return [tuple(of(cell) for of, cell in zip(types, line.split(","))) for line in lines]


def main():
    expected = sorted(
        expected_findings(
            read("trades.csv", (str, int, float)),
            read("stock_rules.csv", (int, str, float, float)),
        )
    )
    assert len(expected) > 3, expected
    for parallelism in ("1", "3"):
        done = subprocess.run(
            [HEADRACE, "run", JOB, "--parallelism", parallelism, "--"]
            + ["--trades", EXAMPLES / "data/trades.csv"]
            + ["--rules", EXAMPLES / "data/stock_rules.csv"],
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done
        found = []
        for line in done.stdout.splitlines():
            assert line.startswith("+I[") and line.endswith("]"), line
            time_ms, stock, price, times = line[3:-1].split(", ")
            found.append((int(time_ms), stock, float(price), int(times)))
        assert sorted(found) == expected, (done.stdout, expected)
        assert f"\n  findings: {len(expected)}\n" in done.stderr, done.stderr
        highest = max(trade[2] for trade in read("trades.csv", (str, int, float)))
        assert f"\n  highest price: {highest}\n" in done.stderr, done.stderr


main()
