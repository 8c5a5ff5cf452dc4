import unittest
import xml.etree.ElementTree

import report


def run(engine, repeat, seconds, core_seconds, megabytes, **more):
    return {"kind": "run", "pass": "hashmap", "query": "q0", "format": "json", "parallelism": 2, "engine": engine,
            "events": 1_000_000, "repeat": repeat, "is_counted": True, "seconds": seconds,
            "core_seconds": core_seconds, "peak_memory_bytes": megabytes * 1048576,
            "steady_events_per_second": None, **more}


LINES = [
    {"kind": "settings", "pass": "hashmap", "engine": "flink", "settings": {"pipeline.object-reuse": "true"}},
    run("flink", -1, 99.0, 99.0, 9999, is_counted=False),
    run("headrace", 0, 1.0, 2.0, 100), run("headrace", 1, 1.1, 2.2, 110), run("headrace", 2, 0.9, 1.8, 90),
    run("flink", 0, 10.0, 20.0, 1000), run("flink", 1, 10.0, 20.0, 1000), run("flink", 2, 10.0, 20.0, 1000),
    run("loop", 0, 1.0, 1.0, 10),
    {"kind": "rows", "pass": "hashmap", "query": "q0", "format": "json", "events": 1000,
     "counts": {"headrace": 920, "flink": 920, "loop": 920}},
    {"kind": "refused", "pass": "hashmap", "query": "q13", "format": "json", "engine": "flink", "error": "no lookup"},
]


class ReportTest(unittest.TestCase):
    def setUp(self):
        self.document = report.make(LINES)
        self.row = self.document["rows"][0]

    def test_ratios_are_of_medians_of_what_counts(self):
        self.assertAlmostEqual(self.row["core_rate_to_flink"], 10)
        self.assertAlmostEqual(self.row["rate_to_flink"], 10)
        self.assertAlmostEqual(self.row["core_rate_to_loop"], 0.5)
        self.assertAlmostEqual(self.row["memory_of_flink"], 0.1)
        self.assertIsNone(self.row["core_rate_to_decoded"])
        self.assertEqual(self.row["engines"]["flink"]["seconds"]["count"], 3)

    def test_means_are_over_the_queries_that_both_ran(self):
        self.assertAlmostEqual(self.document["geometric_means"][0]["core_rate_to_flink"], 10)
        self.assertIsNone(self.document["geometric_means"][0]["core_rate_to_decoded"])

    def test_a_query_that_flink_refuses_is_told(self):
        self.assertEqual(self.document["rows"][1]["refused"], {"flink": "no lookup"})
        self.assertIn("| refused |", report.table(self.document))

    def test_rows_that_differ_are_told(self):
        self.assertTrue(self.row["are_rows_same"])
        lines = [{**line, "counts": {"headrace": 1, "flink": 2}} if line["kind"] == "rows" else line for line in LINES]
        document = report.make(lines)
        self.assertFalse(document["rows"][0]["are_rows_same"])
        self.assertIn("DIFFER", report.table(document))

    def test_one_count_alone_proves_nothing(self):
        self.assertIsNone(report.same_rows({"headrace": 1}))
        self.assertIsNone(report.same_rows({}))

    def test_settings_are_told(self):
        self.assertEqual(self.document["settings"][0]["settings"], {"pipeline.object-reuse": "true"})

    def test_the_picture_has_a_bar_an_engine(self):
        drawn = xml.etree.ElementTree.fromstring(report.picture(self.document, "hashmap"))
        rects = [each for each in drawn if each.tag.endswith("rect")]
        heights = {each.get("fill"): float(each.get("height")) for each in rects if each.get("width") == "6"}
        self.assertEqual(set(heights), {report.COLOURS[name] for name in ("headrace", "flink", "loop")})
        self.assertGreater(heights[report.COLOURS["loop"]], heights[report.COLOURS["headrace"]])
        self.assertGreater(heights[report.COLOURS["headrace"]], heights[report.COLOURS["flink"]])


if __name__ == "__main__":
    unittest.main()
