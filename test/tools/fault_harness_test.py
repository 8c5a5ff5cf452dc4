import collections
import pathlib
import struct
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fault"))

import network  # noqa: E402
from windowed import difference, make_input, read_output  # noqa: E402


def rows_of(expected):
    return [(*where, number) for where, number in expected.items()]


class DifferenceTest(unittest.TestCase):
    def setUp(self):
        with tempfile.TemporaryDirectory() as directory:
            self.expected, self.ending = make_input(pathlib.Path(directory) / "input", 300, 1)
        self.rows = rows_of(self.expected)

    def test_what_the_input_says_is_right_in_any_order(self):
        self.assertEqual(difference(self.rows[::-1], self.expected, False), "")
        self.assertEqual(difference(self.rows, self.expected, True), "")

    def test_a_lost_row_is_seen(self):
        self.assertIn("1 rows missing", difference(self.rows[1:], self.expected, False))
        self.assertIn("1 results lost", difference(self.rows[1:], self.expected, True))

    def test_a_row_that_comes_twice_is_seen_but_for_at_least_once(self):
        twice = self.rows + self.rows[5:6]
        self.assertIn("1 rows too many", difference(twice, self.expected, False))
        self.assertEqual(difference(twice, self.expected, True), "")

    def test_a_row_without_one_late_input_is_seen(self):
        less = [(*self.rows[0][:3], self.rows[0][3] - 1), *self.rows[1:]]
        self.assertIn("1 rows missing", difference(less, self.expected, False))
        self.assertIn("1 results lost", difference(less, self.expected, True))

    def test_a_result_of_no_input_is_seen(self):
        more = [*self.rows, (0, 1, 5_000_000, 7)]
        self.assertIn("1 rows too many", difference(more, self.expected, False))
        self.assertIn("1 results of no input", difference(more, self.expected, True))


class OutputTest(unittest.TestCase):
    def test_windows_in_files_that_may_end_the_output_do_not_count(self):
        with tempfile.TemporaryDirectory() as directory:
            output = pathlib.Path(directory)
            (output / "part-0-1").write_text("0,1,1000,5\n0,1,2000,6\n")
            (output / "part-0-2").write_text("0,1,3000,5\n0,1,9000,6\n")
            (output / "part-1-1").write_text("1,2,2000,1\n1,2,4000,1\n")

            rows, early = read_output(output, 9000)

        self.assertEqual(len(rows), 6)
        self.assertEqual(early, 3)

    def test_each_key_has_a_row_from_the_ending_on(self):
        with tempfile.TemporaryDirectory() as directory:
            expected, ending = make_input(pathlib.Path(directory) / "input", 300, 2)
        last = collections.Counter()
        for _, key, start in expected:
            last[key] = max(last[key], start)
        self.assertEqual(min(last.values()), ending)


class ResetTest(unittest.TestCase):
    flow = bytes([10, 77, 0, 1, 10, 77, 0, 2]) + struct.pack("!HH", 6123, 40000)
    one, other = bytes([2, 0, 0, 0, 0, 1]), bytes([2, 0, 0, 0, 0, 2])

    def test_a_reset_is_a_valid_segment_of_its_flow(self):
        frame = network.make_reset(self.flow, 77, self.other, self.one)

        self.assertEqual(network.flow_of(frame), (self.flow, 77, 0, network.RST))
        self.assertEqual(network.checksum(frame[14:34]), 0)
        pseudo = self.flow[0:8] + struct.pack("!BBH", 0, 6, 20)
        self.assertEqual(network.checksum(pseudo + frame[34:]), 0)

    def test_a_flow_turns_around(self):
        back = network.reversed_flow(self.flow)

        self.assertEqual(back[0:4], bytes([10, 77, 0, 2]))
        self.assertEqual(struct.unpack("!HH", back[8:12]), (40000, 6123))
        self.assertEqual(network.reversed_flow(back), self.flow)


if __name__ == "__main__":
    unittest.main()
