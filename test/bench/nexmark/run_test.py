import os
import sys
import tempfile
import types
import unittest

import run


def measured(seconds):
    return {"seconds": seconds, "core_seconds": seconds, "peak_memory_bytes": 1, "samples": []}


class TestingHarness(run.Harness):
    """Engines whose runs take as long as their events say, and are noted."""

    flink_rate = 100_000.0
    refused = ()

    def __init__(self, given):
        self.ran, self.ended = [], 0
        super().__init__(given)

    def events(self, count, form):
        return str(count)

    def note_conditions(self):
        self.headrace = "echo"  # whose version is what it is asked
        super().note_conditions()

    def end_cluster(self):
        self.ended += 1
        super().end_cluster()

    def run_headrace(self, name, query, form, home):
        self.ran.append(("headrace", query, int(home)))
        return measured(1.0)

    def run_flink(self, name, query, home):
        self.ran.append(("flink", query, int(home)))
        if query in self.refused:
            raise RuntimeError("Flink: not supported")
        return {**measured(1 + int(home) / self.flink_rate), "heap_mb": self.heap_of(name, query)}

    def run_loop(self, query, form, engine, home):
        self.ran.append((engine, query, int(home)))
        return {**measured(0.5), "events": int(home), "result_rows": 7}

    def count_in_flink(self, name, query, home):
        return 7


class HarnessTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.out, sys.stdout = sys.stdout, open(os.devnull, "w", encoding="utf-8")

    def tearDown(self):
        sys.stdout.close()
        sys.stdout = self.out
        self.directory.cleanup()

    def harness(self, **more):
        given = {"build": "build", "directory": self.directory.name, "flink_cache": "cache", "queries": "q0",
                 "passes": "hashmap", "engines": "headrace,flink", "formats": "json", "parallelism": 2, "repeats": 2,
                 "events": 500_000, "target_seconds": 60, "check_events": 0, "rate": 10_000, "heap": 2048, "rocksdb_memory": 512,
                 "checkpoint_interval": "0",
                 "find_heap": False, "fresh": False, "heaps": "512,1024,2048", "patience": 100}
        return TestingHarness(types.SimpleNamespace(**{**given, **more}))

    def test_engines_run_in_turn_and_flink_is_warmed_up_once(self):
        harness = self.harness()
        harness.run_all()
        count = 500_000
        self.assertEqual(harness.ran, [("flink", "q0", run.FEW_EVENTS), ("headrace", "q0", count), ("flink", "q0", count),
                                       ("flink", "q0", count), ("flink", "q0", count), ("headrace", "q0", count)])
        self.assertEqual([(line["engine"], line["is_counted"]) for line in harness.record.find(kind="run")],
                         [("headrace", True), ("flink", False), ("flink", True), ("flink", True), ("headrace", True)])

    def test_a_cluster_is_for_a_pass_or_for_a_query(self):
        for fresh, ended in ((False, 1), (True, 3)):
            harness = self.harness(fresh=fresh, repeats=1, queries="q0,q1")
            harness.run_all()
            self.assertEqual(harness.ended, ended)

    def test_what_was_measured_is_not_measured_again(self):
        self.harness(repeats=1).run_all()
        again = self.harness(repeats=1, queries="q0,q1")
        again.run_all()
        self.assertEqual({query for _, query, _ in again.ran}, {"q1"})

    def test_a_record_of_other_settings_is_refused(self):
        self.harness().run_all()
        self.harness().run_all()
        with self.assertRaisesRegex(SystemExit, "another --directory"):
            self.harness(checkpoint_interval="1 s").run_all()

    def test_as_many_events_as_flink_takes_a_minute_for(self):
        harness = self.harness(events=None, engines="flink", repeats=1)
        harness.run_all()
        self.assertEqual(harness.record.find(kind="events")[0]["events"], 5_000_000)
        self.assertEqual([count for _, _, count in harness.ran],
                         [run.FEW_EVENTS, 1_000_000, 5_000_000, 5_000_000])

    def test_a_query_that_flink_refuses_runs_without_it(self):
        harness = self.harness(repeats=1, events=None)
        harness.refused = ("q0",)
        harness.run_all()
        self.assertEqual([engine for engine, _, _ in harness.ran], ["flink", "headrace"])
        self.assertEqual(len(harness.record.find(kind="refused", error="Flink: not supported")), 1)

    def test_the_heap_that_was_found_is_used(self):
        harness = self.harness(repeats=1, find_heap=True)
        harness.run_all()
        self.assertEqual(harness.record.find(kind="heap")[0]["heap_mb"], 512)
        self.assertEqual([line["heap_mb"] for line in harness.record.find(kind="run", engine="flink", is_counted=True)],
                         [512])

    def test_loops_run_where_there_are_some(self):
        harness = self.harness(engines="loop,decoded", queries="q0,q16", repeats=1)
        harness.run_all()
        self.assertEqual([(engine, query) for engine, query, _ in harness.ran], [("loop", "q0"), ("decoded", "q0")])


if __name__ == "__main__":
    unittest.main()
