import os
import tempfile
import unittest

from figures import Record, geometric_mean, heap_to_try, next_events, spread, steady_rate


class EventsTest(unittest.TestCase):
    def test_a_run_about_as_long_as_wanted_is_taken(self):
        for seconds in (31, 60, 89):
            self.assertIsNone(next_events([(1_000_000, seconds)], 60))

    def test_a_short_run_asks_for_more_events(self):
        # 0.2 M/s beside a second that every job takes: 11.8 M in 59 s, of which 10 M are a step
        self.assertEqual(next_events([(1_000_000, 6.0)], 60), 10_000_000)

    def test_a_long_run_asks_for_fewer(self):
        self.assertEqual(next_events([(1_000_000, 401.0)], 60), 100_000)

    def test_one_run_does_not_lead_too_far(self):
        self.assertEqual(next_events([(10_000, 1.05)], 60), 200_000)

    def test_the_ends_of_the_ladder_are_ends(self):
        self.assertIsNone(next_events([(20_000_000, 5.0)], 60))
        self.assertIsNone(next_events([(10_000, 500.0)], 60))

    def test_no_number_is_tried_twice(self):
        self.assertIsNone(next_events([(1_000_000, 100.0), (500_000, 20.0)], 60))


class FiguresTest(unittest.TestCase):
    def test_a_spread_is_relative_to_the_median(self):
        self.assertEqual(spread([12.0, 10.0, 9.0]),
                         {"median": 10.0, "least": 9.0, "most": 12.0, "spread": 0.3, "count": 3})
        self.assertEqual(spread([5.0])["spread"], 0.0)

    def test_a_geometric_mean_of_nothing_is_none(self):
        self.assertAlmostEqual(geometric_mean([2, 8]), 4)
        self.assertIsNone(geometric_mean([]))

    def test_the_steady_rate_leaves_start_and_end_out(self):
        slow_start = [(0, 0), (5, 0), (10, 100)]
        middle = [(10 + i, 100 + 100 * i) for i in range(1, 9)]
        slow_end = [(30, 950), (40, 1000)]
        self.assertAlmostEqual(steady_rate(slow_start + middle + slow_end, 1000), 100)

    def test_there_is_no_steady_rate_of_few_samples(self):
        self.assertIsNone(steady_rate([(0, 0), (1, 500), (2, 1000)], 1000))
        self.assertIsNone(steady_rate([], 1000))


class HeapTest(unittest.TestCase):
    SIZES = [256, 512, 1024, 2048]

    def search(self, rates):
        tried = {}
        while True:
            size, is_found = heap_to_try(tried, self.SIZES)
            if is_found:
                return size, sorted(tried)
            tried[size] = rates[size]

    def test_the_smallest_within_five_percent_is_found(self):
        self.assertEqual(self.search({2048: 100, 1024: 99, 512: 96, 256: 80}), (512, self.SIZES))

    def test_smaller_ones_are_not_tried_behind_one_that_is_too_slow(self):
        self.assertEqual(self.search({2048: 100, 1024: 90}), (2048, [1024, 2048]))

    def test_one_that_runs_out_of_memory_is_too_small(self):
        self.assertEqual(self.search({2048: 100, 1024: 100, 512: None}), (1024, [512, 1024, 2048]))

    def test_the_best_may_be_a_smaller_one(self):
        self.assertEqual(self.search({2048: 90, 1024: 100, 512: 80}), (1024, [512, 1024, 2048]))

    def test_the_smallest_of_all_may_do(self):
        self.assertEqual(self.search({size: 1 for size in self.SIZES}), (256, self.SIZES))

    def test_when_the_largest_fails_it_says_so(self):
        with self.assertRaisesRegex(ValueError, "larger sizes"):
            self.search({2048: None})


class RecordTest(unittest.TestCase):
    def test_what_was_added_is_found_again(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "record.jsonl")
            record = Record(path)
            record.add({"kind": "run", "query": "q0", "repeat": 0})
            record.add({"kind": "run", "query": "q1", "repeat": 0})
            with open(path, "a", encoding="utf-8") as out:
                out.write('{"kind": "ru')

            again = Record(path)

            self.assertEqual(len(again.find(kind="run")), 2)
            self.assertEqual(again.find(query="q1", repeat=0), [record.lines[1]])
            self.assertEqual(again.find(query="q1", repeat=1), [])

    def test_a_line_that_was_broken_off_does_not_spoil_the_next(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "record.jsonl")
            with open(path, "w", encoding="utf-8") as out:
                out.write('{"kind": "run"}\n{"kind": "ru')
            Record(path).add({"kind": "rows"})
            self.assertEqual([line["kind"] for line in Record(path).lines], ["run", "rows"])


if __name__ == "__main__":
    unittest.main()
