#!/usr/bin/env python3
"""How late rows arrive that are due at fixed times, in Headrace and in Flink 2.3.

    bench/latency/run.py --directory DIR [--flink-cache .cache/flink] [--rates 1000,100000,1000000]

A source of one subtask, one exchange, a sink of two that measures (bench/jobs/latency.cpp,
FlinkLatency.java): a filter and projection of each row, or an aggregate over windows of one second.
Exactly-once checkpoints each second. A row's latency counts from the moment at which it was due, also
when the source is late, and that of a window's result from its end. One JSON line a run.
"""

import argparse
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, *path) for path in (
    ("..", "nexmark"), ("..", "..", "test", "sql"), ("..", "..", "test", "sql", "nexmark"))]

# pylint: disable=wrong-import-position
import flink
from latencies import is_complete, quantiles, read_counts

WARM_UP_S = 5  # that the jobs leave out
JAVA = os.path.join(HERE, "FlinkLatency.java")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--directory", required=True, help="of what is counted, checkpoints and logs")
    parser.add_argument("--flink-cache", help="where Flink's distribution is, or is to be downloaded to")
    parser.add_argument("--rates", default="1000,100000,1000000", help="events a second")
    parser.add_argument("--kinds", default="project,window")
    parser.add_argument("--seconds", type=int, default=60, help=f"of a run, the first {WARM_UP_S} not measured")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--parallelism", type=int, default=2)
    parser.add_argument("--heap", type=int, default=2048, help="MB of Flink's tasks")
    parser.add_argument("--checkpoint-interval", default="1 s")
    parser.add_argument("--buffer-timeout", default="1 ms", help="how long a partly filled buffer waits")
    parser.add_argument("--watermark-interval", default="1 ms", help="of Flink, whose watermarks go by a timer")
    return parser.parse_args()


def settings(given):
    return {"execution.checkpointing.interval": given.checkpoint_interval,
            "execution.checkpointing.mode": "EXACTLY_ONCE", "execution.buffer-timeout.interval": given.buffer_timeout,
            "state.backend.type": "hashmap"}


def run_headrace(given, kind, rate, out):
    build = os.path.abspath(given.build)
    words = [os.path.join(build, "apps", "headrace"), "run", os.path.join(build, "bench", "liblatency.so"), "-q", "-p",
             str(given.parallelism)]
    for key, value in {**settings(given), "execution.checkpointing.dir": os.path.join(given.directory, "chk")}.items():
        words += ["-D", f"{key}={value}"]
    subprocess.run([*words, "--", "--kind", kind, "--rate", str(rate), "--seconds", str(given.seconds), "--output", out],
                   check=True)


def run_flink(given, cluster, kind, rate, out):
    words = [cluster.java, "-Xmx512m", *flink.OPENED, cluster.logging(), "-cp", cluster.class_path, "FlinkLatency",
             f"127.0.0.1:{cluster.rest}", kind, str(rate), str(given.seconds), out]
    more = {"parallelism.default": given.parallelism, "pipeline.object-reuse": "true",
            "pipeline.auto-watermark-interval": given.watermark_interval,
            "execution.checkpointing.dir": "file://" + os.path.join(given.directory, "chk")}
    words += [f"{key}={value}" for key, value in {**settings(given), **more}.items()]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def run_once(given, engine, cluster, kind, rate):
    out = os.path.join(given.directory, "counts")
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    began = time.monotonic()
    if engine == "headrace":
        run_headrace(given, kind, rate, out)
    else:
        run_flink(given, cluster, kind, rate, out)
    wall = time.monotonic() - began
    counts = read_counts(glob.glob(os.path.join(out, "latency-*")))
    rows = sum(counts.values())
    if not is_complete(kind, rate, given.seconds - WARM_UP_S, rows):
        raise SystemExit(f"{engine}, {kind}, {rate} events a second: only {rows} rows were counted")
    return {"engine": engine, "kind": kind, "rate": rate, "seconds": given.seconds, "wall_seconds": round(wall, 1),
            "settings": settings(given), **quantiles(counts)}


def main():
    given = arguments()
    given.directory = os.path.abspath(given.directory)
    os.makedirs(os.path.join(given.directory, "flink"), exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that Flink is ended, too
    cluster = None
    if given.flink_cache:
        cluster = flink.Cluster(given.flink_cache, os.path.join(given.directory, "flink"), given.parallelism,
                                given.heap, {}, (JAVA,))
    try:
        for kind in given.kinds.split(","):
            for rate in map(int, given.rates.split(",")):
                for engine in ("headrace", *(["flink"] if cluster else [])) * given.repeats:
                    measured = run_once(given, engine, cluster, kind, rate)
                    with open(os.path.join(given.directory, "latency.jsonl"), "a", encoding="utf-8") as record:
                        record.write(json.dumps(measured) + "\n")
                    print(json.dumps(measured), flush=True)
    finally:
        if cluster:
            cluster.stop()


if __name__ == "__main__":
    main()
