#!/usr/bin/env python3
"""Runs a windowed exactly-once job on a cluster that is disturbed, and compares what comes out.

Each run starts a job manager and three task managers of two slots, submits the job at parallelism 4
over a throttled source, and disturbs it at moments drawn from the seed. With --network and --resets the
input has no end: the job is drained once the last fault is over and all rows are read. Four kinds of
runs:

    (none)      kill -9 and SIGSTOP of task managers, and in every fifth run kill -9 of the job
                manager; what was killed is started again. On loopback.
    --storm     kill -9, SIGSTOP and SIGTERM of any process at any time, also while the job starts
                and ends. On loopback.
    --network   the processes stand in network namespaces; what goes between them is cut in both or
                one direction, delayed or lost, for less and for more than the heartbeat timeout
    --resets    connections are reset: in even runs those between the job manager and the task
                managers, which must not restart the job, in odd ones those between task managers

A run is good when the job has finished, was restored from a completed checkpoint (where it was to be
restarted), had committed at least 100 windows before the end of its input, had no late row, and its
output is to the row what the input says; no process may have ended by itself, and all task managers
must be back at the end, with no task. With --at-least-once nothing may be missing. With --unaligned an
operator is slower than its input, and at least one checkpoint must have stored rows that waited there.
With --savepoint the job is stopped with a savepoint in the middle, and goes on at another parallelism.

    test/fault/run.py --runs 50 --seed 7 --results build/fault.jsonl   # goes on where it ended

Ends only what it has started, listens on loopback or in its own namespaces only, and ends by itself.
Exit code 77: this machine does not let it make network namespaces.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from cluster import Cluster, Failure, Unproven
from disturbances import (Disturber, NetworkDisturber, ProcessDisturber, ResetDisturber,
                          StormDisturber)
from network import Host, Switch, Unavailable
from windowed import difference, make_input, read_output

TASK_MANAGERS = 3
ON_LOOPBACK = ("processes", "storm")
DRAINED = ("network", "resets")
WINDOWS_MIN = {"processes": 100, "storm": 0, "network": 100, "resets": 100}
TRIES_MAX = 3
AGAIN = 1_000_003  # between the seeds of the tries of a run
SKIPPED = 77
SLOW_ROW_US = 2600  # at 4 subtasks a little slower than four readers at 400 rows/s

# Short times, so that a stopped process is noticed within a run. Where packets are delayed and lost
# a retransmission must have the time to come.
HEARTBEAT_MS = {"processes": (100, 1000), "storm": (100, 1000), "network": (200, 2000),
                "resets": (200, 2000)}
# Of each of the four files, so that the input lasts as long as it is disturbed.
ROWS = {"processes": 3000, "storm": 800, "network": 4500, "resets": 3000}


def settings_of(options):
    interval, timeout = HEARTBEAT_MS[options.kind]
    return {
        "state.backend.type": options.backend,
        "heartbeat.interval": f"{interval} ms",
        "heartbeat.timeout": f"{timeout} ms",
        "restart-strategy.exponential-delay.max-backoff": "500 ms",
        "cluster.services.shutdown-timeout": "5 s",
        "log.level": "debug",
        # One that is looked into has to be there until then.
        "execution.checkpointing.num-retained": 100 if options.kind in DRAINED else 1,
    }


def make_disturber(options, number, cluster, switch, drawn):
    if number == 0:
        return Disturber(cluster, drawn, [])
    if options.kind == "network":
        timeout = HEARTBEAT_MS["network"][1] / 1000
        return NetworkDisturber(cluster, switch, drawn, number - 1, timeout)
    if options.kind == "resets":
        return ResetDisturber(cluster, switch, drawn, of_data=number % 2 == 1)
    if options.kind == "storm":
        return StormDisturber(cluster, drawn)
    every = options.job_manager_every
    disturber = ProcessDisturber(cluster, drawn, number % every == every - 1)
    if options.savepoint:
        disturber.move_in_the_middle(("canonical", "native"))
    return disturber


class Watch:
    """Follows one job to its end, and has it disturbed on the way."""

    def __init__(self, options, cluster, disturber, output):
        self.options = options
        self.output = output
        self.cluster = cluster
        self.disturber = disturber
        self.restored = set()
        self.restarts = 0
        self.late = 0
        self.in_flight = 0  # bytes that a checkpoint has stored at the most
        self.status = None
        self.job = None
        self.uses_rocksdb = False
        self.begun_from = 0  # the checkpoint, or savepoint, that the job began with

    def follow(self):
        end = time.monotonic() + self.options.seconds
        while True:
            if time.monotonic() > end:
                raise Failure(f"job did not end in {self.options.seconds} s: {self.status}, "
                              f"{self.cluster.silence}")
            self.cluster.mend()
            status = self.cluster.info(self.cluster.job)
            if status is not None:
                self._take(status)
                if status["state"] in ("FINISHED", "FAILED", "CANCELED"):
                    return
            if self.disturber.is_due(status):
                self.disturber.disturb()
            elif self._is_to_end(status):
                self.cluster.stop("--drain")
            else:
                time.sleep(0.05)

    def _is_to_end(self, status):
        """Whether nothing but the job's end is missing, where its input has none."""
        return (self.options.kind in DRAINED and self.disturber.is_over() and status is not None
                and any(self.output.glob("part-*"))  # all readers have had their splits
                and self.cluster.has_splits(status["lastCheckpointPath"]) is False)

    def _take(self, status):
        self.status = status
        if self.cluster.job != self.job:
            self.job = self.cluster.job
            self.begun_from = status["restoredCheckpoint"]
        if status["restoredCheckpoint"] > self.begun_from:
            self.restored.add(status["restoredCheckpoint"])
        self.restarts = max(self.restarts, status["restarts"])
        self.late = max(self.late, sum(one["lateRecords"] for one in status["vertices"]))
        if self.options.backend == "rocksdb" and not self.uses_rocksdb:
            self.uses_rocksdb = any(self.cluster.directory.glob("tmp/*/state/*/*/*/*/CURRENT"))
        if self.options.unaligned:
            self.in_flight = max(self.in_flight, self.cluster.in_flight_bytes(self.job))


def await_clean(cluster, seconds=30):
    """Waits until each task manager is there again and none has a task: the stale ones, too."""
    end = time.monotonic() + seconds
    while True:
        cluster.mend()
        seen = cluster.actors()
        words = f"job manager does not answer: {cluster.silence}"
        if seen is not None:
            kinds = [one["kind"] for one in seen["actors"]]
            executors, tasks = kinds.count("task_executor"), kinds.count("subtask")
            if executors == TASK_MANAGERS and tasks == 0:
                return
            words = f"{executors} task executors, {tasks} subtasks"
        if time.monotonic() > end:
            raise Failure(f"cluster is not clean {seconds} s after the job's end: {words}")
        time.sleep(0.1)


def noticed_resets(directory):
    """How often a process has written that a connection broke."""
    return sum(len(re.findall("connection lost", log.read_text()))
               for log in directory.glob("*.log"))


@contextlib.contextmanager
def hosts_of(options, seed):
    """The hosts and the switch between them; none where the processes are on loopback."""
    if options.kind in ON_LOOPBACK:
        yield None, None
        return
    names = ["jobmanager"] + [f"taskmanager-{i + 1}" for i in range(TASK_MANAGERS)]
    with contextlib.ExitStack() as made:
        hosts = [made.enter_context(Host(name, i + 1)) for i, name in enumerate(names)]
        yield hosts, made.enter_context(Switch(hosts, seed))


def run_once(options, number, attempt, directory):
    seed = options.seed + number
    drawn = random.Random(seed + attempt * AGAIN)
    expected, ending = make_input(directory / "input", options.rows, seed)
    output = directory / "output"
    with hosts_of(options, seed) as (hosts, switch), \
            Cluster(options.headrace, directory, settings_of(options), hosts) as cluster:
        cluster.start_job_manager()
        cluster.start_task_managers()
        arguments = ["--input", str(directory / "input"), "--output", str(output),
                     "--rows-per-second", str(options.rows_per_second)]
        if options.at_least_once:
            arguments.append("--at-least-once")
        if options.unaligned:
            arguments += ["--unaligned", "--row-us", str(SLOW_ROW_US)]
        if options.kind in DRAINED:
            arguments.append("--watch")
        cluster.submit(options.job, arguments)
        disturber = make_disturber(options, number, cluster, switch, drawn)
        watch = Watch(options, cluster, disturber, output)
        watch.follow()
        status = watch.status
        if status["state"] != "FINISHED":
            raise Failure(f"job ended as {status['state']}: {status['failure']}")
        await_clean(cluster)
        crashed = cluster.crashed
    rows, windows = read_output(output, ending)
    result = {"disturbances": disturber.done, "restored": sorted(watch.restored),
              "windows": windows, "restarts": watch.restarts, "counts": disturber.counts()}
    wrong = difference(rows, expected, options.at_least_once)
    if options.unaligned:
        result["in_flight_bytes"] = watch.in_flight
    if wrong:
        raise Failure(f"{wrong} ({result})")
    if watch.late > 0:
        raise Failure(f"{watch.late} rows were late ({result})")
    if options.backend == "rocksdb" and not watch.uses_rocksdb:
        raise Failure(f"no task kept its state in RocksDB ({result})")
    if crashed:
        raise Failure(f"processes ended by themselves: {', '.join(crashed)} ({result})")
    if disturber.forbids_restart and watch.restarts + len(watch.restored) > 0:
        raise Failure(f"the job was restarted without need ({result})")
    if options.kind == "resets" and disturber.plan:
        result["noticed"] = noticed_resets(directory)
        if result["noticed"] < len(disturber.plan):
            raise Unproven("resets were not noticed by those whose connections they were")
    if not disturber.is_over() and options.kind != "storm":
        raise Unproven("job ended before it was disturbed as planned: throttle it more")
    if disturber.wants_restart and not watch.restored:
        raise Unproven("job was never restored from a checkpoint")
    if options.unaligned and watch.in_flight == 0:
        raise Unproven("no checkpoint has stored rows that were in flight")
    if windows < WINDOWS_MIN[options.kind]:
        raise Unproven(f"only {windows} windows were committed before the end of input")
    return result


def run_proving(options, number, directory):
    """Runs again, at most twice and disturbed otherwise, what went well but proved nothing."""
    for attempt in range(TRIES_MAX):
        try:
            result = run_once(options, number, attempt, directory / str(attempt))
            return {"tries": attempt + 1, **result}
        except Unproven as reason:
            if attempt + 1 == TRIES_MAX:
                raise
            print(f"run {number} again: {reason}", flush=True)
    raise AssertionError("unreachable")


def finished_runs(options):
    """The seeds of the runs of this kind in the results file that were good."""
    if options.results is None or not options.results.exists():
        return set()
    done = [json.loads(line) for line in options.results.read_text().splitlines()]
    return {one["seed"] for one in done
            if "failure" not in one and one["kind"] == options.kind
            and one["at_least_once"] == options.at_least_once
            and one.get("unaligned", False) == options.unaligned
            and one.get("backend", "hashmap") == options.backend
            and one.get("savepoint", False) == options.savepoint}


def parse_arguments():
    root = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5, help="that are disturbed")
    parser.add_argument("--seed", type=int, default=os.environ.get(
        "HEADRACE_SEED", int.from_bytes(os.urandom(3), "big")))
    parser.add_argument("--undisturbed", action="store_true",
                        help="begin with a run in which nothing is done to the cluster")
    parser.add_argument("--build", type=pathlib.Path, default=root / "build")
    parser.add_argument("--rows", type=int, help="of each of the four files")
    parser.add_argument("--rows-per-second", type=int, default=400, help="of each reader")
    parser.add_argument("--seconds", type=int, default=120, help="for one run, at most")
    parser.add_argument("--job-manager-every", type=int, default=5,
                        help="in every n-th run the job manager is killed, too")
    modes = parser.add_mutually_exclusive_group()
    modes.add_argument("--at-least-once", action="store_true")
    modes.add_argument("--unaligned", action="store_true", help="with unaligned checkpoints")
    parser.add_argument("--backend", choices=("hashmap", "rocksdb"), default="hashmap",
                        help="state backend of the job")
    parser.add_argument("--savepoint", action="store_true",
                        help="stop with a savepoint in the middle, go on at another parallelism")
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--network", dest="kind", action="store_const", const="network",
                       default="processes", help="faults between network namespaces")
    kinds.add_argument("--storm", dest="kind", action="store_const", const="storm",
                       help="kill, stop and end any process at any time")
    kinds.add_argument("--resets", dest="kind", action="store_const", const="resets",
                       help="reset connections between network namespaces")
    parser.add_argument("--results", type=pathlib.Path,
                        help="a line of JSON a run is added; runs that it has are left out")
    parser.add_argument("--keep", type=pathlib.Path, help="where the files of failed runs go")
    options = parser.parse_args()
    if options.savepoint and options.kind != "processes":
        parser.error("--savepoint goes with kills and stops only")
    options.headrace = options.build.resolve() / "apps/headrace"
    # A savepoint waits for what an operator that is slow has in front of it.
    longer = 2 if options.unaligned and options.savepoint else 1
    options.rows = options.rows or ROWS[options.kind] * longer
    options.numbers = range(0 if options.undisturbed else 1, options.runs + 1)
    options.job = options.build.resolve() / "test/fault/libwindowed_job.so"
    return options


def run_series(options):
    done = finished_runs(options)
    failed = 0
    for number in options.numbers:
        if options.seed + number in done:
            continue
        directory = pathlib.Path(tempfile.mkdtemp(prefix="headrace-fault-"))
        began = time.monotonic()
        result = {"run": number, "seed": options.seed + number, "kind": options.kind,
                  "at_least_once": options.at_least_once, "unaligned": options.unaligned,
                  "backend": options.backend, "savepoint": options.savepoint}
        try:
            result.update(run_proving(options, number, directory))
        except (Failure, subprocess.SubprocessError) as failure:
            failed += 1
            result["failure"] = str(failure)
            if options.keep is not None:
                options.keep.mkdir(parents=True, exist_ok=True)
                shutil.copytree(directory, options.keep / f"{options.kind}-{result['seed']}",
                                dirs_exist_ok=True)
        finally:
            shutil.rmtree(directory, ignore_errors=True)
        result["seconds"] = round(time.monotonic() - began, 1)
        print(json.dumps(result), flush=True)
        if options.results is not None:
            with options.results.open("a") as out:
                out.write(json.dumps(result) + "\n")
    return failed


def main():
    options = parse_arguments()
    print(f"seed {options.seed}", flush=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # by way of all that cleans up
    try:
        failed = run_series(options)
    except Unavailable as reason:
        print(f"skipped: {reason}; run it as root, or under unshare --user --map-root-user")
        return SKIPPED
    runs = len(options.numbers)
    print(f"{runs - failed} of {runs} runs good", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
