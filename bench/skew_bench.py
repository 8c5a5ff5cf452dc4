#!/usr/bin/env python3
"""SQL over rows of which 80 % have one key, plainly and with what spreads them: one JSON line each.

    bench/skew_bench.py [--headrace build/apps/headrace] [--parallelism 2] [--rows 1000000] [--runs 1]

Wall and CPU seconds are those of the whole process. Of several runs the fastest is told.
"""

import argparse
import json
import os
import resource
import subprocess
import tempfile
import time

GATHER = ["table.exec.mini-batch.enabled=true", "table.exec.mini-batch.allow-latency=100ms",
          "table.exec.mini-batch.size=5000"]
ONE, TWO = (["table.optimizer.agg-phase-strategy=" + word] for word in ("ONE_PHASE", "TWO_PHASE"))
SPLIT = ["table.optimizer.distinct-agg.split.enabled=true", "table.optimizer.distinct-agg.split.bucket-num=64"]

# Ten thousand keys, of which 0 has 80 % of the rows.
KEY = "CASE WHEN MOD(r, 10) < 8 THEN 0 ELSE MOD(r, 100000) END"
SUMS = "INSERT INTO sums SELECT k, COUNT(*), SUM(v) FROM hot GROUP BY k"
COUNTS = "INSERT INTO sums SELECT k, COUNT(DISTINCT v), SUM(v) FROM hot GROUP BY k"
JOIN = "INSERT INTO pairs SELECT {} h.k, h.v, s.name FROM hot h JOIN small s ON h.k = s.k"
# The same with work for each pair, which is done where the pair is made.
COSTLY = JOIN.replace("s.name FROM", "REGEXP_EXTRACT(s.name || CAST(h.v AS STRING), '([a-f]+)[0-9]*', 1) FROM")
BROADCAST, SKEW = "/*+ BROADCAST(s) */", "/*+ SKEW('table' = 'h', 'column' = 'k') */"

JOBS = [
    ("group by, one phase", SUMS, ONE),
    ("group by, two phases", SUMS, TWO),
    ("group by, mini-batch, one phase", SUMS, GATHER + ONE),
    ("group by, mini-batch, two phases", SUMS, GATHER + TWO),
    ("distinct", COUNTS, []),
    ("distinct, mini-batch", COUNTS, GATHER),
    ("distinct, mini-batch, split", COUNTS, GATHER + SPLIT),
    ("join", JOIN.format(""), []),
    ("join, BROADCAST", JOIN.format(BROADCAST), []),
    ("join, SKEW", JOIN.format(SKEW), []),
    ("join with work for each pair", COSTLY.format(""), []),
    ("join with work for each pair, BROADCAST", COSTLY.format(BROADCAST), []),
    ("join with work for each pair, SKEW", COSTLY.format(SKEW), []),
]


def script(statement, rows):
    """The small table has one row a key."""
    return f"""
CREATE TABLE numbers (r BIGINT, v BIGINT) WITH ('connector' = 'generator', 'number-of-rows' = '{rows}',
  'fields.r.min' = '0', 'fields.r.max' = '999999', 'fields.v.min' = '0', 'fields.v.max' = '99999');
CREATE TABLE keys (k BIGINT, name STRING) WITH ('connector' = 'generator', 'fields.k.kind' = 'sequence',
  'fields.k.start' = '0', 'fields.k.end' = '999', 'fields.name.length' = '10');
CREATE TABLE sums (k BIGINT, n BIGINT, s BIGINT) WITH ('connector' = 'blackhole');
CREATE TABLE pairs (k BIGINT, v BIGINT, name STRING) WITH ('connector' = 'blackhole');
CREATE VIEW hot AS SELECT {KEY} AS k, v FROM numbers;
CREATE VIEW small AS SELECT k, name FROM keys;
{statement};
"""


def run(headrace, path, parallelism, settings):
    """Wall and CPU seconds of a job, from its start to its end."""
    command = [headrace, "run", path, "-q", "-p", str(parallelism)]
    for each in settings:
        command += ["-D", each]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    wall = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--headrace", default="build/apps/headrace")
    parser.add_argument("--parallelism", type=int, default=2)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "job.sql")
        for name, statement, settings in JOBS:
            with open(path, "w", encoding="utf-8") as out:
                out.write(script(statement, options.rows))
            wall, cpu = min(run(options.headrace, path, options.parallelism, settings) for _ in range(options.runs))
            print(json.dumps({"bench": name, "rows": options.rows, "parallelism": options.parallelism,
                              "wall_seconds": round(wall, 3), "cpu_seconds": round(cpu, 3),
                              "rows_per_second": round(options.rows / wall)}), flush=True)


if __name__ == "__main__":
    main()
