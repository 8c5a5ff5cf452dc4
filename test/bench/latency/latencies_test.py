import os
import tempfile
import unittest

from latencies import is_complete, quantiles, read_counts


class LatenciesTest(unittest.TestCase):
    def test_counts_of_subtasks_are_summed(self):
        with tempfile.TemporaryDirectory() as directory:
            paths = [os.path.join(directory, name) for name in ("latency-0", "latency-1")]
            for path, text in zip(paths, ("10 1\n200 5\n", "10 2\n")):
                with open(path, "w", encoding="utf-8") as out:
                    out.write(text)
            self.assertEqual(read_counts(paths), {10: 3, 200: 5})

    def test_rows_that_are_missing_are_seen(self):
        self.assertTrue(is_complete("project", 1000, 10, 9000))
        self.assertFalse(is_complete("project", 1000, 10, 8980))
        self.assertTrue(is_complete("window", 1000, 10, 1000))
        self.assertFalse(is_complete("window", 1000, 10, 800))

    def test_quantiles_are_of_rows(self):
        found = quantiles({1000: 9_900, 2000: 90, 5000: 9, 70_000: 1})
        self.assertEqual(found, {"rows": 10_000, "p50_ms": 1.0, "p99_ms": 1.0, "p99.9_ms": 2.0, "p99.99_ms": 5.0,
                                 "max_ms": 70.0})

    def test_of_one_row_all_are_the_same(self):
        self.assertEqual(set(quantiles({3000: 1}).values()), {1, 3.0})

    def test_without_rows_there_are_none(self):
        self.assertEqual(quantiles({}), {"rows": 0})


if __name__ == "__main__":
    unittest.main()
