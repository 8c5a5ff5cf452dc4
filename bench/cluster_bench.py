#!/usr/bin/env python3
"""Measures how fast clusters of processes start jobs, and recover them, with default options.

    bench/cluster_bench.py [recovery] [stop] [restart] [deploy] [--repeat N]

    recovery  a task manager is killed, and there are spare slots: until the first row that a
              restarted subtask emits (as the task managers log it), until all tasks run, and until
              the next file is committed; checkpoints every second
    stop      the same when it is stopped (SIGSTOP), which only the heartbeat timeout tells
    restart   the job manager is killed, and started again at once
    deploy    jobs of 1,000 subtasks on two task managers: until all of them run, and the memory of
              each process

Prints one JSON line a figure; each has the load of the machine. Ends only what it has started,
listens on loopback only.
"""

import argparse
import datetime
import http.client
import json
import os
import pathlib
import random
import re
import signal
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "test/fault"))
from cluster import Cluster, Failure, Loopback  # noqa: E402  (needs the path)

PARALLELISM = 4
SLOTS = 2
FIRST_ROWS = "restarted task emits its first rows"
# vertices, parallelism
DEPLOYED = [(1, 1000), (4, 250), (2, 500), (2, 1000)]


def await_that(done, seconds, what):
    end = time.monotonic() + seconds
    while not (result := done()):
        if time.monotonic() > end:
            raise Failure(f"{what} took more than {seconds} s")
        time.sleep(0.005)
    return result


def memory_mb(process, field="VmRSS"):
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith(field):
            return round(int(line.split()[1]) * 1024 / 1e6)
    return 0


def cpu_seconds(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return round((int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), 2)


def time_of(line):
    """Seconds since 1970 of a line of a log, by the millisecond."""
    moment = datetime.datetime.strptime(line.split(" ", 1)[0], "%Y-%m-%dT%H:%M:%S.%fZ")
    return moment.replace(tzinfo=datetime.timezone.utc).timestamp()


class BenchCluster(Cluster):
    """Processes with default options, and any number of slots."""

    def __init__(self, directory):
        super().__init__(OPTIONS.headrace, directory, {})

    def add_task_manager(self, slots):
        process = self._start("taskmanager", Loopback, **{"taskmanager.numberOfTaskSlots": slots})
        self.task_managers.append(process)
        self.await_ready(process)

    def log_of(self, process):
        log = self.directory / f"{process.name}.log"
        return log.read_text() if log.exists() else ""  # a process that begins has none yet

    def submit_wide(self, arguments, parallelism):
        done = self.client("run", str(OPTIONS.job), *self.target(), "--detached", "--json",
                           "--parallelism", str(parallelism), "--", *arguments, seconds=300)
        if done.returncode != 0:
            raise Failure(f"job was not submitted: {done.stderr.strip()}")
        return json.loads(done.stdout)["id"]

    def get(self, path, seconds=10):
        """What REST answers; none when nobody does, or with an error."""
        connection = http.client.HTTPConnection("127.0.0.1", self.rest_port, timeout=seconds)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            body = answer.read()
            return json.loads(body) if answer.status == 200 else None
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()


class RunningJob:
    """A job that writes files, on three task managers with two slots too many.

    Each failure that is measured is the first of its job: later ones wait for longer and longer
    before the restart (restart-strategy.exponential-delay).
    """

    def __init__(self, directory):
        self.cluster = BenchCluster(directory)
        self.output = directory / "output"
        self.drawn = random.Random(OPTIONS.seed)

    def __enter__(self):
        cluster = self.cluster.__enter__()
        cluster.start_job_manager()
        for _ in range(3):
            cluster.add_task_manager(SLOTS)
        self.submit()
        return self

    def submit(self):
        self.id = self.cluster.submit_wide(
            ["--vertices", "2", "--rows-per-second", "10000", "--output", str(self.output),
             "--checkpoint-interval", "1000"], PARALLELISM)
        self.await_steady()

    def submit_another(self):
        self.cluster.client("cancel", self.id, *self.cluster.target())
        await_that(lambda: (self.details() or {}).get("state") == "CANCELED", 60, "cancel")
        self.submit()

    def __exit__(self, *causes):
        self.cluster.__exit__(*causes)

    def details(self):
        return self.cluster.get(f"/jobs/{self.id}")

    def is_running(self, restarts_min):
        job = self.details()
        return (job is not None and job["state"] == "RUNNING" and job["restarts"] >= restarts_min
                and all(each["tasks"]["RUNNING"] == each["parallelism"]
                        for each in job["vertices"]) and job)

    def completed(self):
        told = self.cluster.get(f"/jobs/{self.id}/checkpoints")
        newest = told and told["latest"]["completed"]
        return newest["id"] if newest else 0

    def await_steady(self):
        """Waits until the job runs, and two more checkpoints are there."""
        await_that(lambda: self.is_running(0), 60, "job to run")
        wanted = self.completed() + 2
        await_that(lambda: self.completed() >= wanted, 60, "two checkpoints")
        time.sleep(self.drawn.uniform(0, 1))  # anywhere between two checkpoints

    def working_task_manager(self):
        """The process of a task manager that has tasks."""
        busy = [each["id"] for each in self.cluster.get("/taskmanagers")["taskmanagers"]
                if each["freeSlots"] < each["slotsNumber"]]
        for process in self.cluster.task_managers:
            mark = re.search(r"endpoint=task_executor-([0-9a-f]{8})", self.cluster.log_of(process))
            if mark and any(each.startswith(mark[1]) for each in busy):
                return process
        raise Failure("no task manager has tasks")

    def files(self):
        return {each for each in os.listdir(self.output) if each.startswith("part-")}

    def first_rows(self, since):
        """When the first restarted subtask emitted rows, after `since`; none: not yet."""
        times = [time_of(line) for process in self.cluster.task_managers
                 for line in self.cluster.log_of(process).splitlines() if FIRST_ROWS in line]
        return min((each for each in times if each >= since), default=None)

    def watch(self, since, restarts, seconds):
        """Seconds from `since` to: first rows, all tasks run, the next commit after the rows."""
        rows = running = None
        known = self.files()
        end = time.monotonic() + seconds
        while True:
            now = time.time()
            running = running or (self.is_running(restarts) and time.time())
            if rows is None:
                known = self.files()
                rows = self.first_rows(since)
            elif running and self.files() - known:
                return {"first_row_s": round(rows - since, 3),
                        "running_s": round(running - since, 3),
                        "commit_s": round(now - since, 3)}
            if time.monotonic() > end:
                raise Failure(f"job was not back in {seconds} s: {self.details()}")
            time.sleep(0.005)


def told(name, runs, **more):
    summary = {"bench": name, "runs": len(runs), "load": round(os.getloadavg()[0], 1), **more}
    for field in runs[0]:
        values = [each[field] for each in runs]
        summary[field] = {"median": round(statistics.median(values), 3), "max": max(values),
                          "all": values}
    print(json.dumps(summary), flush=True)


def measure_recovery(directory):
    runs = []
    with RunningJob(directory) as job:
        for _ in range(OPTIONS.repeat):
            victim = job.working_task_manager()
            since = time.time()
            job.cluster.kill(victim)
            runs.append(job.watch(since, 1, 30))
            job.cluster.add_task_manager(SLOTS)
            job.submit_another()
    told("recovery", runs, parallelism=PARALLELISM, checkpoint_interval_ms=1000)


def measure_stop(directory):
    runs = []
    with RunningJob(directory) as job:
        for _ in range(min(OPTIONS.repeat, 3)):
            victim = job.working_task_manager()
            since = time.time()
            victim.send_signal(signal.SIGSTOP)
            try:
                runs.append(job.watch(since, 1, 60))
            finally:
                victim.send_signal(signal.SIGCONT)
            await_that(lambda: len(job.cluster.get("/taskmanagers")["taskmanagers"]) == 3, 30,
                       "task manager to come back")
            job.submit_another()
    told("stop", runs, parallelism=PARALLELISM, heartbeat_timeout_ms=10_000)


def measure_restart(directory):
    runs = []
    with RunningJob(directory) as job:
        for _ in range(OPTIONS.repeat):
            since = time.time()
            job.cluster.kill(job.cluster.job_manager)
            job.cluster.start_job_manager()
            ready = time.time()
            run = job.watch(since, 0, 60)
            runs.append({"ready_s": round(ready - since, 3), **run})
            job.await_steady()
    told("restart", runs, parallelism=PARALLELISM)


def measure_deploy(directory, vertices, parallelism):
    subtasks = vertices * parallelism
    with BenchCluster(directory) as cluster:
        cluster.start_job_manager()
        for _ in range(2):
            cluster.add_task_manager((parallelism + 1) // 2)
        processes = [cluster.job_manager, *cluster.task_managers]
        before = [memory_mb(each) for each in processes]
        began = time.time()
        cluster.submit_wide(["--vertices", str(vertices)], parallelism)
        submitted = time.time()

        def running():
            told = cluster.get("/jobs/overview", seconds=60)
            return told and told["jobs"][0]["tasks"]["running"] == subtasks

        await_that(running, 300, "job to run")
        ended = time.time()
        cpu = [cpu_seconds(each) for each in processes]
        time.sleep(3)  # until all is quiet
        print(json.dumps({
            "bench": "deploy", "subtasks": subtasks, "vertices": vertices,
            "channels": (vertices - 1) * parallelism * parallelism,
            "load": round(os.getloadavg()[0], 1), "submitted_s": round(submitted - began, 2),
            "running_s": round(ended - began, 2), "cpu_s": cpu, "before_mb": before,
            "resident_mb": [memory_mb(each) for each in processes],
            "peak_mb": [memory_mb(each, "VmHWM") for each in processes],
        }), flush=True)


def main():
    measures = {
        "recovery": [measure_recovery],
        "stop": [measure_stop],
        "restart": [measure_restart],
        "deploy": [lambda directory, shape=shape: measure_deploy(directory, *shape)
                   for shape in DEPLOYED],
    }
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="*", help=" ".join(measures))
    parser.add_argument("--repeat", type=int, default=10, help="of each recovery")
    parser.add_argument("--seed", type=int, default=1, help="of the moments of failures")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.parse_args(namespace=OPTIONS)
    if unknown := set(OPTIONS.what) - set(measures):
        parser.error(f"unknown: {' '.join(unknown)}; there are {' '.join(measures)}")
    OPTIONS.headrace = OPTIONS.build.absolute() / "apps/headrace"
    OPTIONS.job = OPTIONS.build.absolute() / "bench/libwide_job.so"
    for name in OPTIONS.what or measures:
        for measure in measures[name]:
            with tempfile.TemporaryDirectory(prefix="headrace-bench-") as directory:
                measure(pathlib.Path(directory))
    return 0


OPTIONS = argparse.Namespace()

if __name__ == "__main__":
    sys.exit(main())
