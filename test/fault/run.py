#!/usr/bin/env python3
"""Runs a windowed exactly-once job on processes that are killed, and compares what comes out.

Each run starts a job manager and three task managers of two slots on loopback, submits the job at
parallelism 4 over a throttled source, and disturbs it at moments drawn from the seed: kill -9 and
SIGSTOP of task managers, and in every fifth run kill -9 of the job manager. What was killed is
started again. A run is good when the job has finished, was restored from a completed checkpoint,
had committed at least 100 windows before the end of its input, and its output is to the row what
the input says. With --at-least-once nothing may be missing.

    test/fault/run.py --runs 50 --seed 7 --results build/fault.jsonl   # goes on where it ended

Ends only what it has started, listens on loopback only, and ends by itself.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

SECOND_MS = 1000
KEYS = 10
WINDOWS_MIN = 100
TRIES_MAX = 3

# Short times, so that a stopped process is noticed within a run.
SETTINGS = {
    "heartbeat.interval": "100 ms",
    "heartbeat.timeout": "1 s",
    "restart-strategy.exponential-delay.max-backoff": "500 ms",
    "cluster.services.shutdown-timeout": "5 s",
}


def free_port():
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return made.getsockname()[1]


def make_input(directory, rows, seed):
    """Writes four time-ordered files; returns what the job makes of them, and its last window."""
    drawn = random.Random(seed)
    expected = collections.Counter()
    last = 0
    directory.mkdir(parents=True)
    for number in range(4):
        at = 1_000_000
        lines = []
        for _ in range(rows):
            at += drawn.randrange(100)
            key, value = drawn.randrange(KEYS), drawn.randrange(1000)
            start = at - at % SECOND_MS
            expected[(0, key, start)] += value
            expected[(1, key, start)] += 1
            last = max(last, start)
            lines.append(f"{at},{key},{value}\n")
        (directory / f"events-{number}.csv").write_text("".join(lines))
    return expected, last


def read_output(directory, last):
    """Returns the rows, and how many windows stand in files without the last window."""
    rows = []
    early = set()
    for path in sorted(directory.glob("part-*")):
        these = [tuple(map(int, line.split(","))) for line in path.read_text().splitlines()]
        rows += these
        if not any(row[2] == last for row in these):
            early |= {row[2] for row in these}
    return rows, len(early)


def difference(rows, expected, at_least_once):
    """Says in words how the rows differ from what they should be; empty: they do not."""
    if at_least_once:
        found = collections.defaultdict(int)
        for kind, key, start, number in rows:
            found[(kind, key, start)] = max(found[(kind, key, start)], number)
        lost = [where for where, number in expected.items() if found[where] < number]
        return f"{len(lost)} results lost, e.g. {lost[:3]}" if lost else ""
    want = collections.Counter((*where, number) for where, number in expected.items())
    have = collections.Counter(rows)
    missing, extra = want - have, have - want
    if not missing and not extra:
        return ""
    return (f"{sum(missing.values())} rows missing, e.g. {list(missing)[:3]}; "
            f"{sum(extra.values())} rows too many, e.g. {list(extra)[:3]}")


class Failure(Exception):
    pass


class Unproven(Failure):
    """The job went well but was not disturbed enough to prove anything: the machine was slow."""


class Cluster:
    """The processes of one run; all are ended with it."""

    def __init__(self, headrace, directory):
        self.headrace = headrace
        self.directory = directory
        self.rpc_port, self.rest_port = free_port(), free_port()
        self.started = 0
        self.job_manager = None
        self.task_managers = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in [self.job_manager, *self.task_managers]:
            if process is not None and process.poll() is None:
                process.send_signal(signal.SIGKILL)
                process.wait()

    def _start(self, role, **settings):
        self.started += 1
        name = f"{self.started:02}-{role}"
        ready = self.directory / f"{name}.ready"
        words = [str(self.headrace), "node", "--role", role, "--ready-file", str(ready)]
        settings = {
            **SETTINGS,
            "jobmanager.rpc.address": "127.0.0.1",
            "jobmanager.rpc.port": self.rpc_port,
            "io.tmp.dirs": self.directory / "tmp",
            "log.file": self.directory / f"{name}.log",
            **settings,
        }
        for key, value in settings.items():
            words += ["-D", f"{key}={value}"]
        out = open(self.directory / f"{name}.out", "wb")
        process = subprocess.Popen(words, stdout=out, stderr=subprocess.STDOUT,
                                   stdin=subprocess.DEVNULL)
        process.ready = ready
        process.name = name
        return process

    def start_job_manager(self):
        self.job_manager = self._start(
            "jobmanager", **{
                "rest.port": self.rest_port,
                "high-availability.storageDir": self.directory / "jobmanager",
            })
        self.await_ready(self.job_manager)

    def start_task_manager(self):
        self.task_managers.append(
            self._start("taskmanager", **{"taskmanager.numberOfTaskSlots": 2}))

    def await_ready(self, process, seconds=30):
        end = time.monotonic() + seconds
        while not process.ready.exists():
            if process.poll() is not None:
                raise Failure(f"{process.name} ended with {process.returncode}")
            if time.monotonic() > end:
                raise Failure(f"{process.name} was not ready in {seconds} s")
            time.sleep(0.01)

    def client(self, *words, seconds=60):
        return subprocess.run(
            [str(self.headrace), *words, "--target", f"127.0.0.1:{self.rest_port}"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=seconds, check=False, text=True)

    def submit(self, job, arguments):
        done = subprocess.run(
            [str(self.headrace), "run", str(job), "--target", f"127.0.0.1:{self.rest_port}",
             "--detached", "--json", "--parallelism", "4", "--", *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False, text=True)
        if done.returncode != 0:
            raise Failure(f"job was not submitted: {done.stderr.strip()}")
        return json.loads(done.stdout)["id"]

    def info(self, job):
        """The job's status; none while the job manager is away."""
        done = self.client("info", job, "--json")
        return json.loads(done.stdout) if done.returncode == 0 else None


class Disturber:
    """Kills and stops processes of a cluster at moments that are drawn."""

    def __init__(self, cluster, drawn, with_job_manager):
        self.cluster = cluster
        self.drawn = drawn
        self.plan = [drawn.choice(["kill", "stop"]) for _ in range(drawn.randint(2, 3))]
        if with_job_manager:
            self.plan.insert(drawn.randrange(len(self.plan) + 1), "job manager")
        self.done = []

    def disturb(self):
        what = self.plan[len(self.done)]
        self.done.append(what)
        if what == "job manager":
            self._kill(self.cluster.job_manager)
            time.sleep(self.drawn.uniform(0, 1.5))
            self.cluster.start_job_manager()
            return
        victim = self.drawn.choice(self.cluster.task_managers)
        if what == "kill":
            self._kill(victim)
            self.cluster.task_managers.remove(victim)
            time.sleep(self.drawn.uniform(0, 0.5))
            self.cluster.start_task_manager()
            return
        victim.send_signal(signal.SIGSTOP)
        time.sleep(self.drawn.uniform(0.1, 2.5))
        victim.send_signal(signal.SIGCONT)

    def mend(self):
        """Starts what has ended by itself, as a supervisor would."""
        for process in list(self.cluster.task_managers):
            if process.poll() is not None:
                self.cluster.task_managers.remove(process)
                self.cluster.start_task_manager()

    @staticmethod
    def _kill(process):
        process.send_signal(signal.SIGKILL)
        process.wait()


def run_once(options, number, directory):
    seed = options.seed + number
    drawn = random.Random(seed)
    expected, last = make_input(directory / "input", options.rows, seed)
    output = directory / "output"
    with_job_manager = number % options.job_manager_every == options.job_manager_every - 1
    result = {"run": number, "seed": seed, "at_least_once": options.at_least_once}
    with Cluster(options.headrace, directory) as cluster:
        cluster.start_job_manager()
        for _ in range(3):
            cluster.start_task_manager()
        arguments = ["--input", str(directory / "input"), "--output", str(output),
                     "--rows-per-second", str(options.rows_per_second)]
        if options.at_least_once:
            arguments.append("--at-least-once")
        job = cluster.submit(options.job, arguments)
        disturber = Disturber(cluster, drawn, with_job_manager)
        restored = set()
        next_checkpoint = 1
        end = time.monotonic() + options.seconds
        while True:
            if time.monotonic() > end:
                raise Failure(f"job did not end in {options.seconds} s: {status}")
            disturber.mend()
            status = cluster.info(job)
            if status is None:
                time.sleep(0.05)
                continue
            if status["restoredCheckpoint"] > 0:
                restored.add(status["restoredCheckpoint"])
            if status["state"] in ("FINISHED", "FAILED", "CANCELED"):
                break
            if (len(disturber.done) < len(disturber.plan)
                    and status["lastCheckpoint"] >= next_checkpoint
                    and status["state"] == "RUNNING"):
                next_checkpoint = status["lastCheckpoint"] + 2
                time.sleep(drawn.uniform(0, 0.3))
                disturber.disturb()
            time.sleep(0.05)
    rows, windows = read_output(output, last)
    result.update(disturbances=disturber.done, restored=sorted(restored), windows=windows,
                  restarts=status["restarts"], state=status["state"])
    if status["state"] != "FINISHED":
        raise Failure(f"job ended as {status['state']}: {status['failure']}")
    wrong = difference(rows, expected, options.at_least_once)
    if wrong:
        raise Failure(wrong)
    if len(disturber.done) < len(disturber.plan):
        raise Unproven("job ended before it was disturbed as planned: throttle it more")
    if not restored:
        raise Unproven("job was never restored from a checkpoint")
    if windows < WINDOWS_MIN:
        raise Unproven(f"only {windows} windows were committed before the end of input")
    return result


def run_proving(options, number, directory):
    """Runs again, at most twice, what went well but proved nothing."""
    for attempt in range(TRIES_MAX):
        try:
            return run_once(options, number, directory / str(attempt))
        except Unproven as reason:
            if attempt + 1 == TRIES_MAX:
                raise
            print(f"run {number} again: {reason}", flush=True)


def finished_runs(path, at_least_once):
    """The runs of a results file that were good."""
    if path is None or not path.exists():
        return set()
    done = [json.loads(line) for line in path.read_text().splitlines()]
    return {(one["seed"]) for one in done
            if "failure" not in one and one["at_least_once"] == at_least_once}


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=os.environ.get(
        "HEADRACE_SEED", int.from_bytes(os.urandom(3), "big")))
    parser.add_argument("--build", type=pathlib.Path, default=root / "build")
    parser.add_argument("--rows", type=int, default=3000, help="of each of the four files")
    parser.add_argument("--rows-per-second", type=int, default=400, help="of each reader")
    parser.add_argument("--seconds", type=int, default=120, help="for one run, at most")
    parser.add_argument("--job-manager-every", type=int, default=5,
                        help="in every n-th run the job manager is killed, too")
    parser.add_argument("--at-least-once", action="store_true")
    parser.add_argument("--results", type=pathlib.Path,
                        help="a line of JSON a run is added; runs that it has are left out")
    parser.add_argument("--keep", type=pathlib.Path, help="where the files of failed runs go")
    options = parser.parse_args()
    options.headrace = options.build.resolve() / "apps/headrace"
    options.job = options.build.resolve() / "test/fault/libwindowed_job.so"
    done = finished_runs(options.results, options.at_least_once)
    print(f"seed {options.seed}", flush=True)
    failed = 0
    for number in range(options.runs):
        if options.seed + number in done:
            continue
        directory = pathlib.Path(tempfile.mkdtemp(prefix="headrace-fault-"))
        began = time.monotonic()
        try:
            result = run_proving(options, number, directory)
        except (Failure, subprocess.TimeoutExpired) as failure:
            failed += 1
            result = {"run": number, "seed": options.seed + number,
                      "at_least_once": options.at_least_once, "failure": str(failure)}
            if options.keep is not None:
                options.keep.mkdir(parents=True, exist_ok=True)
                shutil.copytree(directory, options.keep / f"run-{options.seed + number}",
                                dirs_exist_ok=True)
        finally:
            shutil.rmtree(directory, ignore_errors=True)
        result["seconds"] = round(time.monotonic() - began, 1)
        print(json.dumps(result), flush=True)
        if options.results is not None:
            with options.results.open("a") as out:
                out.write(json.dumps(result) + "\n")
    print(f"{options.runs - failed} of {options.runs} runs good", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
