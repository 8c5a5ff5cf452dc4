#!/usr/bin/env python3
"""Compares the results of Nexmark's queries with those of sqlite3 over the same files (oracle.py), and
those of the pattern queries with what Flink has said of these (patterns.py).

    run_nexmark.py HEADRACE                     what each build checks
    run_nexmark.py HEADRACE --full DIRECTORY    more events, both state backends: plainly, with
                                                mini-batches, with a task manager killed in the middle,
                                                with a savepoint in the middle, restored on the other
                                                backend at twice the parallelism; goes on where it was
                                                when run again
                   [--ways WORD,…]              of these only some: plain, gathered, killed, moved

Exit code: 0 all results are equal, 1 some are not.
"""

import argparse
import csv
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter

import oracle
import patterns

PATIENCE_S = 300
EVENTS = 6000
# A day, a morning and an evening begin while events come.
STARTS = {"midnight": "2024-02-28 23:59:57", "morning": "2024-02-29 07:59:57", "evening": "2024-02-29 18:59:57"}
BY_DAYTIME = ("q14", "q15", "q16", "q17")


class Failures:
    def __init__(self):
        self.checked, self.failed = 0, 0

    def check(self, label, found):
        self.checked += 1
        if found:
            self.failed += 1
            print(f"{label}: {found}", flush=True)


def command(*words, **more):
    ended = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=PATIENCE_S, **more)
    if ended.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: code {ended.returncode}: {ended.stdout}{ended.stderr}")
    return ended.stdout


def generate(headrace, directory, events, rate, start, *more):
    if not os.path.exists(os.path.join(directory, "events.json")):
        command(headrace, "nexmark", "generate", "--events", str(events), "--rate", str(rate), "--seed", "42",
                "--base-time", start, "--output", directory, *more)


def generate_events(headrace, data, name):
    """Those of midnight are what most queries are checked with, and patterns.py asks Flink about."""
    generate(headrace, data, EVENTS, 1000, STARTS[name])


def script_of(headrace, query, data, output, scratch, *more):
    path = os.path.join(scratch, query + ".sql")
    with open(path, "w", encoding="utf-8") as out:
        out.write(command(headrace, "nexmark", "sql", "--query", query, "--input", data, "--output", output, *more))
    return path


def files_below(directory):
    for folder, _, names in os.walk(directory):
        for name in sorted(names):
            if not name.startswith((".", "_")):
                yield os.path.join(folder, name)


def partitioned(output):
    """The rows of q10, whose files are CSV in directories of their values."""
    rows = Counter()
    for path in files_below(output):
        day, minute = os.path.dirname(path).split("/")[-2:]
        values = day.removeprefix("dt="), minute.removeprefix("hm=").replace("%3A", ":")
        if not os.path.exists(os.path.join(os.path.dirname(path), "_SUCCESS")):
            raise ValueError(f"{path}: the partition is not marked as complete")
        for line in csv.reader(open(path, encoding="utf-8", newline="")):
            rows[(int(line[0]), int(line[1]), int(line[2]), line[3], line[4], *values)] += 1
    return rows


def result_of(query, output):
    if query == "q10":
        return partitioned(output)

    def lines():
        for path in files_below(output):
            yield from open(path, encoding="utf-8")

    return oracle.materialized(lines(), output)


def difference(query, got, database):
    if query in patterns.QUERIES:
        return patterns.difference(query, got)
    return oracle.difference(got, oracle.expected(database, query))


def run_and_compare(headrace, database, query, data, failures, label, *more, sql_options=()):
    with tempfile.TemporaryDirectory() as scratch:
        output = os.path.join(scratch, "out")
        try:
            script = script_of(headrace, query, data, output, scratch, *sql_options)
            command(headrace, "run", script, "-q", *more)
            found = difference(query, result_of(query, output), database)
        except (RuntimeError, ValueError, subprocess.TimeoutExpired) as failure:
            found = str(failure)
        failures.check(f"{query} {label}", found)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Cluster:
    """A job manager and two task managers with two slots each, ended by their ids."""

    def __init__(self, headrace, directory, *settings):
        self.headrace, self.directory, self.settings = headrace, directory, settings
        self.rest, self.rpc = free_port(), free_port()
        self.managers = []
        os.makedirs(directory, exist_ok=True)
        self.job_manager = self.start("jobmanager", "-D", f"high-availability.storageDir={directory}/ha",
                                      "-D", f"rest.port={self.rest}", "-D", f"jobmanager.rpc.port={self.rpc}")
        self.target = f"127.0.0.1:{self.rest}"
        self.managers = [self.start_task_manager(), self.start_task_manager()]
        self.wait_for_slots(4)

    def start(self, role, *more):
        log = open(os.path.join(self.directory, f"{role}-{time.monotonic_ns()}.log"), "w", encoding="utf-8")
        words = [self.headrace, "node", "--role", role, *more]
        for each in self.settings:
            words += ["-D", each]
        return subprocess.Popen(words, stdout=log, stderr=log)

    def start_task_manager(self):
        return self.start("taskmanager", "-D", f"jobmanager.rpc.port={self.rpc}",
                          "-D", "taskmanager.numberOfTaskSlots=2")

    def get(self, path):
        with urllib.request.urlopen(f"http://{self.target}{path}", timeout=5) as answer:
            return json.load(answer)

    def wait_for_slots(self, count):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                if self.get("/v1/overview")["slots-total"] >= count:
                    return
            except OSError:
                pass
            time.sleep(0.05)
        raise RuntimeError(f"the cluster has no {count} slots, see {self.directory}")

    def wait_for_checkpoint(self):
        """Until the one job has something to go on from, and still runs."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            for job in self.get("/v1/jobs/overview")["jobs"]:
                if job["state"] not in ("CREATED", "INITIALIZING", "RUNNING"):
                    raise RuntimeError(f"the job is {job['state']} before a task manager was killed")
                if self.get(f"/v1/jobs/{job['jid']}/checkpoints")["counts"]["completed"] > 0:
                    return
            time.sleep(0.02)
        raise RuntimeError("the job has no checkpoint")

    def wait_for_job(self):
        """The id of the one job, once its result is there."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            for job in self.get("/v1/jobs/overview")["jobs"]:
                if job["state"] == "RUNNING":
                    return job["jid"]
            time.sleep(0.02)
        raise RuntimeError("no job runs")

    def stop_with_savepoint(self, directory):
        """The path of a savepoint of the one job, which ends with it."""
        said = command(self.headrace, "stop", self.wait_for_job(), "--savepoint-path", directory,
                       "--target", self.target)
        return next(word for word in said.split() if "savepoint-" in word)

    def kill_one(self):
        victim = self.managers.pop(0)
        victim.send_signal(signal.SIGKILL)
        victim.wait()
        self.managers.append(self.start_task_manager())

    def stop(self):
        for each in [*self.managers, self.job_manager]:
            each.terminate()
        for each in [*self.managers, self.job_manager]:
            try:
                each.wait(30)
            except subprocess.TimeoutExpired:
                each.kill()
                each.wait()


def short(headrace):
    failures = Failures()
    with tempfile.TemporaryDirectory() as directory:
        databases = {}
        for name, start in STARTS.items():
            data = os.path.join(directory, name)
            generate_events(headrace, data, name)
            databases[name] = data, oracle.load(os.path.join(data, "events.json"))
        data, database = databases["midnight"]
        several = ("--option", "source.split-size=100 kb")
        for query in (*oracle.QUERIES, *patterns.QUERIES):
            for parallelism in (1, 2, 4):
                # Who reads the files side by side changes the order of rows that are equal otherwise.
                options = several if query not in oracle.BY_ARRIVAL else ()
                run_and_compare(headrace, database, query, data, failures, f"at parallelism {parallelism}",
                                "-p", str(parallelism), sql_options=options)
        for query in BY_DAYTIME:
            for name in ("morning", "evening"):
                run_and_compare(headrace, databases[name][1], query, databases[name][0], failures, f"in the {name}",
                                "-p", "2")
        check_figures(headrace, data, failures)
        compare_edges(headrace, directory, failures)
        compare_csv(headrace, directory, database, failures)
        cluster = Cluster(headrace, os.path.join(directory, "cluster"))
        try:
            for query in (*oracle.QUERIES, *patterns.QUERIES):
                run_and_compare(headrace, database, query, data, failures, "on two task managers",
                                "-p", "2", "--target", cluster.target)
        finally:
            cluster.stop()
    return failures


def check_figures(headrace, data, failures):
    """`nexmark run` prints figures of a query, and refuses q6 as Flink does."""
    for source in (("--input", data), ("--events", str(EVENTS))):
        said = json.loads(command(headrace, "nexmark", "run", "--query", "q2", "--json", *source))
        wrong = said["query"] != "q2" or said["events"] != EVENTS or not all(
            said[key] > 0 for key in ("seconds", "events_per_second", "core_seconds", "events_per_core_second",
                                      "peak_memory_bytes"))
        failures.check(f"figures {source[0]}", str(said) if wrong else "")
    ended = subprocess.run([headrace, "nexmark", "run", "--query", "q6", "--events", "100"], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True, timeout=PATIENCE_S)
    failures.check("q6", "" if ended.returncode == 2 else f"code {ended.returncode}: {ended.stdout}{ended.stderr}")


def compare_edges(headrace, directory, failures):
    """Few prices, whole seconds and disorder: ties and edges that the plain events hardly have."""
    data = os.path.join(directory, "edges")
    generate(headrace, data, EVENTS, 100, STARTS["midnight"], "--option", "price.distinct=20",
             "--option", "time.granularity=1 s", "--option", "out-of-order.group-size=50")
    database = oracle.load(os.path.join(data, "events.json"))
    for query in ("q4", "q5", "q7", "q8", "q11", "q15", "q17", "q20"):
        run_and_compare(headrace, database, query, data, failures, "with ties", "-p", "2")


def compare_csv(headrace, directory, database, failures):
    data = os.path.join(directory, "flat")
    command(headrace, "nexmark", "generate", "--events", str(EVENTS), "--rate", "1000", "--seed", "42",
            "--base-time", STARTS["midnight"], "--output", data, "--format", "csv")
    for query in ("q0", "q1", "q2", "q14", "q17", "q22"):
        run_and_compare(headrace, database, query, data, failures, "over CSV", "-p", "2")


WAYS = ("plain", "gathered", "killed", "moved")
GATHERING = ("-D", "table.exec.mini-batch.enabled=true", "-D", "table.exec.mini-batch.allow-latency=100ms",
             "-D", "table.exec.mini-batch.size=500")


def full(headrace, directory, events, ways):
    """Each result is noted in DIRECTORY/done, and not computed again."""
    failures = Failures()
    data = os.path.join(directory, "events")
    generate(headrace, data, events, 1000, "2024-02-29 17:59:00")
    note = os.path.join(directory, "done")
    done = set(open(note, encoding="utf-8").read().split("\n")) if os.path.exists(note) else set()
    database = oracle.load(os.path.join(data, "events.json"))
    for backend in ("hashmap", "rocksdb"):
        for query in oracle.QUERIES:
            for way in ways:
                label = f"{query} {backend}{'' if way == 'plain' else ' ' + way}"
                if label in done:
                    continue
                before = failures.failed
                compare_on_cluster(headrace, directory, database, query, data, backend, way, label, failures)
                print(label, "well" if failures.failed == before else "FAILED", flush=True)
                if failures.failed == before:
                    with open(note, "a", encoding="utf-8") as out:
                        out.write(label + "\n")
    return failures


def compare_on_cluster(headrace, directory, database, query, data, backend, way, label, failures):
    place = tempfile.mkdtemp(dir=directory)
    output = os.path.join(place, "out")
    found = ""
    cluster = Cluster(headrace, os.path.join(place, "cluster"))
    try:
        # Slowly enough to be killed in the middle, with equal rows in one order.
        slow = ("--option", "rows-per-second=20000") if way in ("killed", "moved") else ()
        # Readers ask for splits all the while, so also between the two parts of a checkpoint.
        if slow and query not in oracle.BY_ARRIVAL:
            slow += ("--option", "source.split-size=300 kb")
        script = script_of(headrace, query, data, output, place, *slow)
        words = [headrace, "run", script, "-q", "--target", cluster.target,
                 "-D", "execution.checkpointing.interval=200ms",
                 "-D", f"execution.checkpointing.dir={place}/checkpoints"]
        words += GATHERING if way in ("gathered", "moved") else ()
        running = subprocess.Popen([*words, "-p", "2", "-D", f"state.backend.type={backend}"],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if way in ("killed", "moved"):
            cluster.wait_for_checkpoint()
        if way == "killed":
            cluster.kill_one()
        savepoint = cluster.stop_with_savepoint(f"{place}/savepoints") if way == "moved" else None
        words_said, _ = running.communicate(timeout=PATIENCE_S)
        if running.returncode != 0:
            raise RuntimeError(f"run: code {running.returncode}: {words_said}")
        if savepoint:
            other = "rocksdb" if backend == "hashmap" else "hashmap"
            command(*words, "-p", "4", "-D", f"state.backend.type={other}", "-s", savepoint)
        found = oracle.difference(result_of(query, output), oracle.expected(database, query))
    except (RuntimeError, ValueError, subprocess.TimeoutExpired) as failure:
        found = str(failure)
    finally:
        cluster.stop()
    failures.check(label, found)
    if not found:
        shutil.rmtree(place)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("headrace")
    arguments.add_argument("--full", metavar="DIRECTORY")
    arguments.add_argument("--events", type=int, default=100_000)
    arguments.add_argument("--ways", default=",".join(WAYS))
    given = arguments.parse_args()
    headrace = os.path.abspath(given.headrace)
    if given.full:
        os.makedirs(given.full, exist_ok=True)
        failures = full(headrace, os.path.abspath(given.full), given.events, given.ways.split(","))
    else:
        failures = short(headrace)
    print(f"{failures.checked} results, {failures.failed} failures")
    return 1 if failures.failed or not failures.checked else 0


if __name__ == "__main__":
    sys.exit(main())
