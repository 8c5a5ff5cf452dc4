#!/usr/bin/env python3
"""Measures recovery with much state: a task manager is killed and started again under its name.

    bench/recovery_bench.py [--backend hashmap|rocksdb] [--no-local] [--megabytes N]
                            [--value-bytes N] [--repeat N]

A job with so much keyed state runs on a cluster of processes without a spare slot. Then one task
manager is killed (kill -9) and started again at once, with its name and directory. Told are the
seconds from the kill to the first row that a subtask with keyed state emits after its restart, the
longest restore of a subtask, and how much of what was read came from local copies. One JSON line.
"""

import argparse
import json
import pathlib
import re
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "bench"))
from cluster_bench import BenchCluster, OPTIONS, await_that, time_of, told  # noqa: E402

TASK_MANAGERS = 2
FIRST_ROWS = "restarted task emits its first rows"
RESTORED = "state restored"
STATEFUL = "remember"


def words_of(line):
    return dict(re.findall(r"(\w+)=(\"[^\"]*\"|\S+)", line))


class RecoveringCluster(BenchCluster):
    def add_named(self, number):
        name = f"tm-{number}"
        process = self._start("taskmanager", self.hosts[0], **{
            "taskmanager.numberOfTaskSlots": 1,
            "taskmanager.resource-id": name,
            "execution.state-recovery.from-local": str(OPTIONS.local).lower(),
        })
        self.task_managers.append(process)
        return process

    def lines(self, words, since):
        found = [line for process in self.task_managers
                 for line in self.log_of(process).splitlines()
                 if words in line and STATEFUL in line]
        return [line for line in found if time_of(line) >= since]

    def newest(self, job):
        counts = self.get(f"/jobs/{job}/checkpoints")
        return counts and counts["latest"]["completed"]


def submit(cluster):
    keys = OPTIONS.megabytes * 1_000_000 // OPTIONS.value_bytes
    done = cluster.client(
        "run", str(OPTIONS.job), *cluster.target(), "--detached", "--json", "--parallelism",
        str(TASK_MANAGERS), "-D", f"state.backend.type={OPTIONS.backend}",
        # later failures restart as early as the first
        "-D", "restart-strategy.type=fixed-delay", "-D", "restart-strategy.fixed-delay.delay=0",
        "-D", "restart-strategy.fixed-delay.attempts=1000", "--", "--keys", str(keys),
        "--value-bytes", str(OPTIONS.value_bytes), "--checkpoint-interval",
        str(OPTIONS.interval_ms), seconds=120)
    if done.returncode != 0:
        sys.exit(f"job was not submitted: {done.stderr.strip()}")
    return json.loads(done.stdout)["id"]


def await_filled(cluster, job):
    """Until all keys are there, and a checkpoint has been completed since."""
    keys = OPTIONS.megabytes * 1_000_000 // OPTIONS.value_bytes

    def filled():
        vertices = (cluster.get(f"/jobs/{job}") or {"vertices": []})["vertices"]
        return sum(one["metrics"]["read-records"] for one in vertices
                   if STATEFUL in one["name"]) >= keys

    await_that(filled, 120, "filling the state")
    at = cluster.newest(job)
    at = at["id"] if at else 0
    await_that(lambda: (cluster.newest(job) or {"id": 0})["id"] >= at + 2, 120, "two checkpoints")


def recover(cluster, job, number):
    victim = next(each for each in cluster.task_managers if each.number == number)
    since = time.time()
    cluster.kill(victim)
    started = cluster.add_named(number)
    started.number = number
    await_that(lambda: len(cluster.lines(FIRST_ROWS, since)) >= TASK_MANAGERS, 60, "first rows")
    rows = sorted(time_of(line) for line in cluster.lines(FIRST_ROWS, since))
    restored = [words_of(line) for line in cluster.lines(RESTORED, since)]
    size = cluster.newest(job)
    return {
        "first_row_s": round(rows[0] - since, 3),
        "all_rows_s": round(rows[-1] - since, 3),
        "restore_s": max(int(each["ms"]) for each in restored) / 1000,
        "read_mb": round(sum(int(each["bytes"]) for each in restored) / 1e6),
        "local_mb": round(sum(int(each["local_bytes"]) for each in restored) / 1e6),
        "newest_checkpoint_mb": round((size or {}).get("state_size", 0) / 1e6),
    }


def measure(directory):
    runs = []
    with RecoveringCluster(directory) as cluster:
        cluster.start_job_manager()
        for number in range(TASK_MANAGERS):
            process = cluster.add_named(number)
            process.number = number
            cluster.await_ready(process)
        job = submit(cluster)
        await_filled(cluster, job)
        for run in range(OPTIONS.repeat):
            runs.append(recover(cluster, job, run % TASK_MANAGERS))
            at = (cluster.newest(job) or {"id": 0})["id"]
            if run + 1 < OPTIONS.repeat:
                await_that(lambda at=at: (cluster.newest(job) or {"id": 0})["id"] >= at + 2, 120,
                           "two checkpoints")
    told("recovery", runs, backend=OPTIONS.backend, local=OPTIONS.local,
         megabytes=OPTIONS.megabytes, value_bytes=OPTIONS.value_bytes)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", choices=["hashmap", "rocksdb"], default="hashmap")
    parser.add_argument("--no-local", dest="local", action="store_false")
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--value-bytes", type=int, default=1000)
    parser.add_argument("--interval-ms", type=int, default=2000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--directory", type=pathlib.Path, help="for all files; default: a new one")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.parse_args(namespace=OPTIONS)
    OPTIONS.headrace = OPTIONS.build.absolute() / "apps/headrace"
    OPTIONS.job = OPTIONS.build.absolute() / "bench/libkeyed_state.so"
    with tempfile.TemporaryDirectory(prefix="headrace-bench-", dir=OPTIONS.directory) as directory:
        measure(pathlib.Path(directory))
    return 0


if __name__ == "__main__":
    sys.exit(main())
