#!/usr/bin/env python3
"""Sets whole jobs beside hand-written loops over the same rows: one JSON line each.

    bench/job_bench.py [--build build] [--parallelism 1] [--cpus 1] [--copies 400]
                       [--pairs 50000000] [--keys 1000]

Rows per core-second count all CPU time of the process, its start and end included; the ratio is to
the loop of the same run. Loop and jobs run on the same `--cpus` processors (0: all of them): where
two processors are threads of one core, a job on both is charged for both while it has one core's
worth, and the loop beside it has the whole core. The text is the licences of this machine, `copies`
times in one file.
"""

import argparse
import glob
import json
import os
import resource
import shutil
import subprocess
import tempfile
import time


def bind_to(cpus):
    """Keeps this process and what it starts on the first `cpus` of its processors; 0: on all."""
    if cpus > 0:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cpus])


def run(command):
    """Runs to the end; gives wall seconds and CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    _, words = process.communicate()
    wall = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if b"finished" not in words:
        raise SystemExit(f"{command}: {words.decode()}")
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return wall, cpu


def report(name, rows, measured, loop, **more):
    wall, cpu = measured
    rate = rows / cpu
    print(json.dumps({"bench": name, "rows": rows, "wall_seconds": round(wall, 3),
                      "cpu_seconds": round(cpu, 3), "rows_per_core_second": round(rate),
                      "of_loop": round(rate / loop["rows_per_core_second"], 3),
                      **more}), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build")
    parser.add_argument("--parallelism", type=int, default=1)
    parser.add_argument("--cpus", type=int, default=1)
    parser.add_argument("--copies", type=int, default=400)
    parser.add_argument("--pairs", type=int, default=50_000_000)
    parser.add_argument("--keys", type=int, default=1000)
    options = parser.parse_args()
    bind_to(options.cpus)
    headrace = f"{options.build}/apps/headrace"
    directory = tempfile.mkdtemp(prefix="headrace-bench-")
    try:
        text = b"".join(open(path, "rb").read()
                        for path in sorted(glob.glob("/usr/share/common-licenses/*")))
        words = f"{directory}/words.txt"
        with open(words, "wb") as out:
            for _ in range(options.copies):
                out.write(text)
        loops = subprocess.run([f"{options.build}/bench/loops_bench", words, str(options.pairs),
                                str(options.keys)], check=True, stdout=subprocess.PIPE).stdout
        by_hand = [json.loads(line) for line in loops.splitlines()]
        for line in by_hand:
            print(json.dumps(line), flush=True)
        parallelism = ["--parallelism", str(options.parallelism)]
        report("word_count", by_hand[0]["rows"],
               run([headrace, "run", f"{options.build}/apps/examples/libword_count.so",
                    *parallelism, "--", "--input", words, "--output", f"{directory}/out"]),
               by_hand[0], parallelism=options.parallelism, cpus=options.cpus)
        report("keyed_sum", options.pairs,
               run([headrace, "run", f"{options.build}/bench/libkeyed_sum.so", *parallelism, "--",
                    "--pairs", str(options.pairs), "--keys", str(options.keys)]),
               by_hand[1], parallelism=options.parallelism, cpus=options.cpus)
        small = f"{directory}/small.txt"
        with open(small, "wb") as out:
            out.write(b"to be or not to be\n")
        walls = []
        for i in range(5):
            walls.append(run([headrace, "run", f"{options.build}/apps/examples/libword_count.so",
                              "--", "--input", small, "--output", f"{directory}/small{i}"])[0])
        print(json.dumps({"bench": "start_to_end_of_small_word_count",
                          "wall_seconds_least": round(min(walls), 3),
                          "wall_seconds_most": round(max(walls), 3)}))
    finally:
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
