#!/usr/bin/env python3
"""Runs Nexmark's queries in Headrace, in Flink 2.3 and as loops by hand over the same files, in turn.

    bench/nexmark/run.py --directory DIR --flink-cache .cache/flink [--report R.json --picture R.svg]

All that is measured is a line of DIR/record.jsonl, and not measured again when this is started again.
The number of events is chosen for each query, so that Flink takes about a minute; docs/benchmarks.md
says what is counted how. Flink is downloaded (330 MB) only into the directory that --flink-cache names,
and left out without it.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "test", "sql"), os.path.join(HERE, "..", "..", "test", "sql", "nexmark")]

# pylint: disable=wrong-import-position
import events as event_files
import figures
import flink
import headrace
import plan
import processes
import report
from run_nexmark import command


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", default="build", help="of apps/headrace and bench/nexmark_loops")
    parser.add_argument("--directory", required=True, help="of events, the record, and what engines write")
    parser.add_argument("--flink-cache", help="where Flink's distribution is, or is to be downloaded to")
    parser.add_argument("--queries", default=",".join(plan.QUERIES))
    parser.add_argument("--passes", default=",".join(plan.PASSES))
    parser.add_argument("--engines", default=",".join(plan.ENGINES))
    parser.add_argument("--formats", default="json", help="json, csv or both")
    parser.add_argument("--parallelism", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--events", type=int, help="of all queries, instead of as many as Flink takes a minute for")
    parser.add_argument("--target-seconds", type=float, default=60)
    parser.add_argument("--check-events", type=int, default=1_000_000, help="whose results' rows are counted; 0: none")
    parser.add_argument("--rate", type=int, default=10_000, help="events in a second of event time")
    parser.add_argument("--heap", type=int, default=2048, help="MB of Flink's tasks, where none was found")
    parser.add_argument("--find-heap", action="store_true", help="find the smallest within 5 %% of the best rate first")
    parser.add_argument("--heaps", default="256,512,1024,2048,4096,8192", help="MB to choose from")
    parser.add_argument("--fresh", action="store_true",
                        help="start Flink's cluster anew for each query, so that its memory is of that query alone")
    parser.add_argument("--rocksdb-memory", type=int, default=512, help="MB, in both engines")
    parser.add_argument("--checkpoint-interval", default="0", help="in both engines; 0: none")
    parser.add_argument("--patience", type=float, default=1800, help="seconds a run may take")
    parser.add_argument("--report", help="JSON to write")
    parser.add_argument("--picture", help="SVG to write; of other passes with their name in it")
    parser.add_argument("--report-only", action="store_true")
    return parser.parse_args()


FEW_EVENTS = 100_000  # to see whether a query runs


class Harness:
    def __init__(self, given):
        self.given = given
        self.headrace = os.path.abspath(os.path.join(given.build, "apps", "headrace"))
        self.loops = os.path.abspath(os.path.join(given.build, "bench", "nexmark_loops"))
        self.directory = os.path.abspath(given.directory)
        os.makedirs(self.directory, exist_ok=True)
        self.record = figures.Record(os.path.join(self.directory, "record.jsonl"))
        self.engines = [each for each in given.engines.split(",") if each != "flink" or given.flink_cache]
        self.cluster, self.warm = None, set()

    def note_conditions(self):
        """Refuses to go on with a record of other settings, whose runs would not be comparable."""
        given = {"parallelism": self.given.parallelism, "rate": self.given.rate,
                 "rocksdb_memory_mb": self.given.rocksdb_memory,
                 "checkpoint_interval": self.given.checkpoint_interval}
        found = self.record.find(kind="conditions")
        if not found:
            self.record.add({"kind": "conditions", "given": given, "headrace": command(self.headrace, "--version").strip(),
                             "flink": flink.VERSION, **processes.machine()})
        elif found[-1]["given"] != given:
            raise SystemExit(f"{self.record.path} is of runs with {found[-1]['given']} instead of {given}: "
                             "name another --directory")

    # What is run.

    def run_all(self):
        self.note_conditions()
        for name in self.given.passes.split(","):
            for query in plan.queries_of(name, self.given.queries.split(",")):
                for form in self.given.formats.split(","):
                    self.run_query(name, query, form)
                if self.given.fresh:
                    self.end_cluster()
            self.end_cluster()

    def run_query(self, name, query, form):
        engines = [each for each in plan.engines_of(name, query, self.engines)
                   if form == "json" or each in ("headrace", "flink")]
        engines = [each for each in engines if not self.find("refused", name, query, form, engine=each)]
        if "flink" in engines and not self.can_flink(name, query, form):
            engines.remove("flink")
        if not engines:
            return
        count = self.given.events or self.events_of(query, form)
        for repeat in range(self.given.repeats):
            for engine in plan.in_turn(engines, repeat):
                if not self.find("run", name, query, form, engine=engine, repeat=repeat, events=count):
                    self.run_once(name, query, form, engine, count, repeat)
        if self.given.check_events and name == "hashmap" and query not in plan.BY_THE_CLOCK + plan.WRITES_FILES:
            self.check_rows(name, query, form, engines)

    def find(self, kind, name, query, form, **more):
        return self.record.find(kind=kind, query=query, format=form, parallelism=self.given.parallelism,
                                **{"pass": name}, **more)

    def add(self, kind, name, query, form, **more):
        self.record.add({"kind": kind, "pass": name, "query": query, "format": form,
                         "parallelism": self.given.parallelism, **more})

    def run_once(self, name, query, form, engine, count, repeat, is_counted=True):
        home = self.events(count, form)
        if engine == "headrace":
            measured = self.run_headrace(name, query, form, home)
        elif engine == "flink":
            if is_counted and (query, count) not in self.warm:
                self.run_once(name, query, form, engine, count, -1, False)
            measured = self.run_flink(name, query, home)
            self.warm.add((query, count))
        else:
            measured = self.run_loop(query, form, engine, home)
        samples = measured.pop("samples", [])
        if measured.pop("events", count) != count:
            raise RuntimeError(f"{query}: {engine} has not read all {count} events")
        measured["steady_events_per_second"] = figures.steady_rate(samples, count)
        self.add("run", name, query, form, engine=engine, events=count, repeat=repeat, is_counted=is_counted,
                 **measured)
        print(f"{name} {query} {form} {engine}{'' if is_counted else ' (not counted)'}: {count} events in "
              f"{measured['seconds']:.2f} s, {measured['core_seconds']:.2f} core-seconds, "
              f"{measured['peak_memory_bytes'] / 1048576:.0f} MB", flush=True)
        return measured

    # The engines.

    def events(self, count, form):
        return event_files.make(self.headrace, os.path.join(self.directory, "events"), count, self.given.parallelism,
                                form, self.given.rate)

    def script(self, query, home, *more):
        output = ("--output", os.path.join(self.directory, "out")) if query in plan.WRITES_FILES else ()
        shutil.rmtree(os.path.join(self.directory, "out"), ignore_errors=True)
        return plan.statements(command(self.headrace, "nexmark", "sql", "--query", query, "--input", home, *output,
                                       *more))

    def headrace_script(self, query, home, form, is_counting=False):
        # One reader, one file, as in Flink, which cuts no file of a local disk.
        split = str(event_files.size(home, form) + 1)
        tables, insert = self.script(query, home, "--option", f"source.split-size={split}",
                                     "--option", "source.split-assignment=static")
        path = os.path.join(self.directory, f"{query}.sql")
        with open(path, "w", encoding="utf-8") as out:
            out.write(";\n".join([*tables, plan.counting(insert) if is_counting else insert]) + ";\n")
        return path

    def settings(self, name):
        return plan.settings_of(name, self.given.checkpoint_interval, self.given.rocksdb_memory)

    def run_headrace(self, name, query, form, home):
        settings = {**self.settings(name), "io.tmp.dirs": self.directory}
        measured = headrace.measure(self.headrace, self.headrace_script(query, home, form), self.given.parallelism,
                                    settings, self.given.patience)
        self.note_settings("headrace", name, measured.pop("settings"))
        return measured

    def run_flink(self, name, query, home):
        cluster = self.flink_for(name, query)
        tables, insert = self.script(query, home)
        job = self.flink_settings(name)
        cluster.prepare(tables, job)
        self.note_settings("flink", name, {**cluster.settings, **job})
        return {**cluster.measure(insert, self.given.patience), "heap_mb": cluster.heap_mb}

    def flink_settings(self, name):
        return {**self.settings(name), "parallelism.default": self.given.parallelism, "pipeline.object-reuse": "true"}

    def note_settings(self, engine, name, settings):
        kept = {key: str(value) for key, value in settings.items() if not key.endswith(".port")}
        if not self.record.find(kind="settings", engine=engine, settings=kept, **{"pass": name}):
            self.record.add({"kind": "settings", "pass": name, "engine": engine, "settings": kept})

    def run_loop(self, query, form, engine, home):
        said = subprocess.run([self.loops, query, engine, str(event_files.TURN), *event_files.files(home, form)],
                              stdout=subprocess.PIPE, text=True, check=True).stdout
        return json.loads(said)

    def flink_for(self, name, query):
        heap = self.heap_of(name, query)
        directory = os.path.join(self.directory, "flink")
        if self.cluster is None or self.cluster.heap_mb != heap:
            self.end_cluster()
            os.makedirs(directory, exist_ok=True)
            self.cluster = flink.Cluster(self.given.flink_cache, directory, self.given.parallelism, heap, {})
        return self.cluster

    def end_cluster(self):
        if self.cluster is not None:
            self.cluster.stop()
        self.cluster, self.warm = None, set()

    def heap_of(self, name, query):
        found = self.record.find(kind="heap", query=query, **{"pass": name})
        return found[-1]["heap_mb"] if found else self.trying if self.trying else self.given.heap

    trying = None

    # What is found out before.

    def can_flink(self, name, query, form):
        """Whether Flink runs it: tries with few events, and notes why not. Finds the heap when asked to."""
        if not self.find("tried", name, query, form):
            try:
                self.run_flink(name, query, self.events(FEW_EVENTS, form))
            except RuntimeError as failure:
                self.add("refused", name, query, form, engine="flink", error=str(failure)[:600])
                print(f"{name} {query} {form}: {str(failure)[:300]}", flush=True)
                return False
            self.add("tried", name, query, form, engine="flink")
            self.warm.add((query, FEW_EVENTS))
        if self.given.find_heap and not self.record.find(kind="heap", query=query, **{"pass": name}):
            self.find_heap(name, query, form)
        return True

    def find_heap(self, name, query, form):
        count = self.given.events or self.events_of(query, form)
        sizes, tried, is_found = sorted(map(int, self.given.heaps.split(","))), {}, False
        while not is_found:
            heap, is_found = figures.heap_to_try(tried, sizes)
            if not is_found:
                self.trying = heap
                try:
                    measured = self.run_once(name, query, form, "flink", count, -1, False)  # it is warm afterwards
                    measured = self.run_once(name, query, form, "flink", count, -1, False)
                    tried[heap] = count / measured["seconds"]
                except RuntimeError as failure:
                    print(f"{name} {query}: {heap} MB of heap: {str(failure)[:200]}", flush=True)
                    tried[heap] = None
                    self.end_cluster()
        self.trying = None
        self.add("heap", name, query, form, heap_mb=heap, tried={str(size): rate for size, rate in tried.items()})

    def events_of(self, query, form):
        """As many as Flink takes the target's seconds for with its state in memory."""
        found = self.record.find(kind="events", query=query, format=form, parallelism=self.given.parallelism,
                                 target=self.given.target_seconds)
        if found:
            return found[-1]["events"]
        if "flink" not in self.engines or self.find("refused", "hashmap", query, form, engine="flink"):
            return 1_000_000
        tried = [(1_000_000, self.try_events(query, form, 1_000_000))]
        while (events := figures.next_events(tried, self.given.target_seconds)) is not None:
            tried.append((events, self.try_events(query, form, events)))
        self.add("events", "hashmap", query, form, events=tried[-1][0], target=self.given.target_seconds, tried=tried)
        return tried[-1][0]

    def try_events(self, query, form, count):
        return self.run_once("hashmap", query, form, "flink", count, -1, False)["seconds"]

    def check_rows(self, name, query, form, engines):
        """Counts the rows that the result comes to, wherever it is computed."""
        count = self.given.check_events
        found = self.find("rows", name, query, form, events=count)
        counts = dict(found[-1]["counts"]) if found else {}
        wanted = [each for each in engines if each != "decoded" and each not in counts]
        if not wanted:
            return
        home = self.events(count, form)
        for engine in wanted:
            if engine == "headrace":
                counts[engine] = headrace.count_rows(self.headrace, self.headrace_script(query, home, form, True),
                                                     self.given.parallelism)
            elif engine == "flink":
                counts[engine] = self.count_in_flink(name, query, home)
            else:
                counts[engine] = self.run_loop(query, form, engine, home)["result_rows"]
        self.add("rows", name, query, form, events=count, counts=counts)
        print(f"{name} {query} {form}: rows of {count} events: {counts}", flush=True)

    def count_in_flink(self, name, query, home):
        cluster = self.flink_for(name, query)
        tables, insert = self.script(query, home)
        # So that the count is told now and then, not at each row.
        cluster.prepare(tables, {**self.flink_settings(name), **plan.MINI_BATCH})
        rows = cluster.ask(sql=plan.counting(insert))["rows"]
        return int(rows[0][0]) if rows else 0  # nothing was counted, so nothing was told


def write_report(given, lines):
    document = report.make(lines)
    print(report.table(document))
    if given.report:
        with open(given.report, "w", encoding="utf-8") as out:
            json.dump(document, out, indent=1)
    if given.picture:
        stem, ending = os.path.splitext(given.picture)
        for name in {row["pass"] for row in document["rows"]}:
            path = given.picture if name == "hashmap" else f"{stem}_{name.replace('-', '_')}{ending}"
            with open(path, "w", encoding="utf-8") as out:
                out.write(report.picture(document, name))
    return all(row["are_rows_same"] is not False for row in document["rows"])


def main():
    given = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that Flink is ended, too
    harness = Harness(given)
    if not given.report_only:
        try:
            harness.run_all()
        finally:
            harness.end_cluster()
    return 0 if write_report(given, harness.record.lines) else 1


if __name__ == "__main__":
    sys.exit(main())
