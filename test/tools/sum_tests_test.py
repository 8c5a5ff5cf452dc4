import unittest

from sum_tests import count

DOCTEST = "[doctest] test cases:  5 |  {} passed | {} failed | 0 skipped\n"


class SumTest(unittest.TestCase):
    def test_a_doctest_program_counts_its_cases(self):
        self.assertEqual(count(DOCTEST.format(5, 0), "", True), (5, 0))
        self.assertEqual(count(DOCTEST.format(3, 2), "", False), (3, 2))

    def test_a_unittest_program_counts_its_cases(self):
        self.assertEqual(count("", "Ran 7 tests in 0.1s\n\nOK\n", True), (7, 0))
        self.assertEqual(count("", "Ran 7 tests in 0.1s\n\nFAILED (failures=1, errors=2)\n", False),
                         (4, 3))

    def test_any_other_program_counts_as_one(self):
        self.assertEqual(count("fine", "", True), (1, 0))
        self.assertEqual(count("", "", False), (0, 1))

    def test_a_program_that_crashes_behind_its_cases_has_failed(self):
        self.assertEqual(count(DOCTEST.format(5, 0), "leak", False), (5, 1))


if __name__ == "__main__":
    unittest.main()
