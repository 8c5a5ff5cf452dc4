import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "simulation"))

import run_planted  # noqa: E402

DIFF = """--- a/one.cpp
+++ b/one.cpp
@@ -1,2 +1,3 @@
 first
-second
+2nd
+and a half
"""


class PlantedTest(unittest.TestCase):
    def test_every_planted_bug_fits_the_source(self):
        bugs = run_planted.load()
        self.assertGreaterEqual(len(bugs), 14)
        self.assertEqual(run_planted.check(bugs), [])

    def test_every_planted_bug_changes_something(self):
        for bug in run_planted.load():
            for path, text in bug.files().items():
                self.assertNotEqual(text, (run_planted.ROOT / path).read_text(), bug.name)

    def test_the_table_names_every_planted_bug(self):
        page = (run_planted.ROOT / "docs" / "simulation.md").read_text()
        for bug in run_planted.load():
            self.assertIn(f"| `{bug.name}` |", page)

    def test_a_hunk_is_found_by_its_lines(self):
        ((path, old, new),) = run_planted.hunks(DIFF)
        self.assertEqual((path, old, new), ("one.cpp", "first\nsecond\n", "first\n2nd\nand a half\n"))
        text = run_planted.replace("bug", path, "zeroth\nfirst\nsecond\nthird\n", old, new)
        self.assertEqual(text, "zeroth\nfirst\n2nd\nand a half\nthird\n")

    def test_a_hunk_that_fits_nowhere_or_twice_is_refused(self):
        ((path, old, new),) = run_planted.hunks(DIFF)
        for text in ["first\n", "a first\nsecond\n", "first\nsecond\n" * 2]:
            with self.assertRaises(run_planted.Misfit):
                run_planted.replace("bug", path, text, old, new)


if __name__ == "__main__":
    unittest.main()
