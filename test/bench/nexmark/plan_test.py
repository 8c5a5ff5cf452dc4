import os
import tempfile
import unittest

import events
import plan


class PlanTest(unittest.TestCase):
    def test_a_script_is_its_tables_and_its_insert(self):
        tables, insert = plan.statements("-- of\nCREATE TABLE a (b INT);\n\nCREATE VIEW c AS\nSELECT 1;\n"
                                         "-- q\nINSERT INTO d\nSELECT b\nFROM a;\n")
        self.assertEqual(tables, ["CREATE TABLE a (b INT)", "CREATE VIEW c AS\nSELECT 1"])
        self.assertEqual(insert, "INSERT INTO d\nSELECT b\nFROM a")
        self.assertEqual(plan.counting(insert), "SELECT COUNT(*) AS result_rows FROM (\nSELECT b\nFROM a\n)")

    def test_only_stateful_queries_have_more_than_one_pass(self):
        self.assertEqual(plan.queries_of("hashmap", ["q0", "q17"]), ["q0", "q17"])
        self.assertEqual(plan.queries_of("rocksdb", ["q0", "q17"]), ["q17"])

    def test_loops_run_where_there_are_some(self):
        self.assertEqual(plan.engines_of("hashmap", "q17", plan.ENGINES), list(plan.ENGINES))
        self.assertEqual(plan.engines_of("hashmap", "q16", plan.ENGINES), ["headrace", "flink"])
        self.assertEqual(plan.engines_of("rocksdb", "q17", plan.ENGINES), ["headrace", "flink"])

    def test_each_engine_is_first_in_turn(self):
        self.assertEqual([plan.in_turn(["a", "b"], repeat) for repeat in range(3)],
                         [["a", "b"], ["b", "a"], ["a", "b"]])

    def test_settings_of_a_pass(self):
        self.assertNotIn("execution.checkpointing.interval", plan.settings_of("hashmap", "0", 512))
        self.assertEqual(plan.settings_of("hashmap", "1s", 512)["execution.checkpointing.interval"], "1s")
        rocksdb = plan.settings_of("rocksdb", "0", 512)
        self.assertEqual(rocksdb["state.backend.type"], "rocksdb")
        self.assertEqual(rocksdb["state.backend.rocksdb.memory.fixed-per-tm"], "512 mb")
        self.assertEqual(plan.settings_of("mini-batch", "0", 512)["table.exec.mini-batch.enabled"], "true")


class EventsTest(unittest.TestCase):
    def test_events_are_dealt_in_turns_and_none_is_lost(self):
        with tempfile.TemporaryDirectory() as directory:
            whole = os.path.join(directory, "whole")
            with open(whole, "w", encoding="utf-8") as out:
                out.writelines(f"{number}\n" for number in range(250))

            events.deal(whole, os.path.join(directory, "home", "events.json"), 2)

            dealt = []
            for path in events.files(os.path.join(directory, "home"), "json"):
                with open(path, encoding="utf-8") as file:
                    dealt.append(file.read().split())
            self.assertEqual(dealt[0], [str(number) for number in (*range(100), *range(200, 250))])
            self.assertEqual(dealt[1], [str(number) for number in range(100, 200)])


if __name__ == "__main__":
    unittest.main()
