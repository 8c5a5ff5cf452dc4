#!/usr/bin/env python3
"""Runs headrace as a user does, with streams that are closed, full or not read, and mistyped words."""

import os
import pty
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

HEADRACE, WORDS, WORD_COUNT = map(os.path.abspath, sys.argv[1:4])
PATIENCE_S = 100


def run(*words, **streams):
    streams.setdefault("stdout", subprocess.PIPE)
    return subprocess.run([HEADRACE, *words], stderr=subprocess.PIPE, text=True, timeout=PATIENCE_S, **streams)


class Terminal(unittest.TestCase):
    def test_a_query_is_drawn_on_a_terminal_and_stands_there_in_the_end(self):
        with tempfile.TemporaryDirectory() as directory:
            script = directory + "/script.sql"
            with open(script, "w") as text:
                text.write(
                    "SELECT k, COUNT(*) AS n FROM (VALUES ('a'), ('b'), ('a')) AS t (k) GROUP BY k ORDER BY k;"
                )
            terminal, inside = pty.openpty()
            child = subprocess.Popen([HEADRACE, "run", script, "-p", "1"], stdout=inside, stderr=inside)
            os.close(inside)
            said = b""
            while True:
                try:
                    more = os.read(terminal, 4096)
                except OSError:  # the other end is closed
                    more = b""
                if not more:
                    break
                said += more
            os.close(terminal)
            self.assertEqual(child.wait(PATIENCE_S), 0, said)
        self.assertTrue(said.endswith(b"k  n\r\na  2\r\nb  1\r\n"), said)
        self.assertNotIn(b"running", said)


class Streams(unittest.TestCase):
    def test_rows_that_cannot_be_printed_fail_the_job(self):
        with open("/dev/full", "w") as full:
            ended = run("run", WORDS, "--parallelism", "1", stdout=full)
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertIn("sink 'print' cannot write to standard output", ended.stderr)
        self.assertIn("output_unusable", ended.stderr)
        self.assertNotIn("bad_usage", ended.stderr)

    def test_a_reader_that_goes_away_fails_the_job_in_words(self):
        words = [HEADRACE, "run", WORDS, "-p", "1", "-q", "--", "--count", "100000000"]
        child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        with child:
            child.stdout.read(1)
            child.stdout.close()
            said = child.stderr.read().decode()
            code = child.wait(PATIENCE_S)
        self.assertEqual(code, 1, said)
        self.assertIn("cannot write to standard output: Broken pipe", said)

    def test_a_closed_output_fails_a_job_that_prints(self):
        ended = run("run", WORDS, "--parallelism", "1", stdout=None, preexec_fn=lambda: os.close(1))
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertIn("sink 'print' cannot write to standard output", ended.stderr)

    def test_closed_streams_leave_files_alone(self):
        with tempfile.TemporaryDirectory() as directory:
            os.mkdir(directory + "/in")
            with open(directory + "/in/text", "w") as text:
                text.write("to be or not to be\n")
            words = ["run", WORD_COUNT, "-p", "1", "-q", "--"]
            words += ["--input", directory + "/in", "--output", directory + "/out"]
            ended = subprocess.run(
                [HEADRACE, *words], timeout=PATIENCE_S, preexec_fn=lambda: os.closerange(0, 3)
            )
            self.assertEqual(ended.returncode, 0)
            rows = []
            for name in os.listdir(directory + "/out"):
                with open(directory + "/out/" + name) as part:
                    rows += part.read().split("\n")
            self.assertEqual(len([row for row in rows if row]), 4, rows)

    def test_a_file_that_is_not_empty_is_not_overwritten(self):
        with tempfile.TemporaryDirectory() as directory:
            script, output = directory + "/script.sql", directory + "/output"
            with open(script, "w") as text:
                text.write("SELECT 1; SELECT 2;")
            words = ["run", script, "-q", "-p", "1", "--format", "csv", "--output", output]
            for kept in (None, ""):
                if kept is not None:
                    open(output, "w").close()
                ended = run(*words)
                self.assertEqual(ended.returncode, 0, ended.stderr)
                with open(output) as text:
                    self.assertEqual(text.read(), "EXPR$0\n1\nEXPR$0\n2\n")
            ended = run(*words)
            self.assertEqual(ended.returncode, 2, ended.stderr)
            self.assertIn("output is not empty, and is left as it is: " + output, ended.stderr)
            with open(output) as text:
                self.assertEqual(text.read(), "EXPR$0\n1\nEXPR$0\n2\n")
            ended = run(*words[:-1], "/dev/null")
            self.assertEqual(ended.returncode, 0, ended.stderr)

    def test_lists_that_cannot_be_written_are_told(self):
        with open("/dev/full", "w") as full:
            self.assertEqual(run("options", stdout=full).returncode, 1)

    def test_a_signal_ends_a_run_that_nobody_reads(self):
        limit = ["-D", "cluster.services.shutdown-timeout=1 s"]
        child = subprocess.Popen(
            [HEADRACE, "run", WORDS, "-p", "1", "-q", *limit, "--", "--count", "100000000"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        with child:
            child.stdout.read(1)
            child.send_signal(signal.SIGTERM)
            code = child.wait(PATIENCE_S)
            child.stdout.close()
        self.assertIn(code, (1, 3))


class Words(unittest.TestCase):
    def refused(self, *words):
        ended = run(*words)
        self.assertEqual(ended.returncode, 2, ended.stderr)
        return ended.stderr

    def test_mistyped_options_are_told_with_the_nearest(self):
        self.assertIn("did you mean --parallelism", self.refused("run", WORDS, "--paralelism", "4"))

    def test_an_unknown_command_is_told_with_the_nearest(self):
        said = self.refused("bogus")
        self.assertIn("bogus", said)
        self.assertIn("jobs, info, cancel, stop, savepoint, checkpoints, actors", said)
        self.assertIn("did you mean jobs", self.refused("job"))
        self.assertIn("did you mean taskmanager", self.refused("node", "--role", "taskmanger"))
        self.assertIn("did you mean cancel", self.refused("cancle", "0123", "--json"))
        self.assertIn("there is no option --jsno", self.refused("--jsno"))
        self.assertIn("a command is missing", self.refused())

    def test_arguments_of_the_job_stand_behind_two_dashes(self):
        self.assertIn("behind --", self.refused("run", WORD_COUNT, "--input", "x"))

    def test_a_job_that_cannot_be_loaded_is_bad_usage(self):
        self.refused("run", "/no/such/job.so")
        self.assertIn("HEADRACE_JOB", self.refused("run", os.path.realpath(HEADRACE + "/../../libheadrace.so")))

    def test_arguments_that_the_job_does_not_want_are_refused(self):
        self.assertIn("is it --count", self.refused("run", WORDS, "--", "--cuont", "1"))
        self.assertIn("wants a value", self.refused("run", WORD_COUNT, "--", "--input", "x", "--output"))
        self.assertIn("given twice", self.refused("run", WORDS, "--", "--count=1", "--count=2"))

    def test_settings_that_do_not_fit_are_refused(self):
        self.assertIn("at least twice", self.refused("run", WORDS, "-D", "heartbeat.timeout=1 s"))
        self.assertIn("log.file", self.refused("run", WORDS, "-D", "log.file=/no/such/directory/log"))

    def test_other_file_systems_are_refused(self):
        self.assertIn("file:///data", self.refused("run", WORDS, "-s", "s3://bucket/savepoint"))
        self.assertIn("file:///data", self.refused("run", WORDS, "-D", "execution.checkpointing.dir=hdfs://h/a"))
        self.assertIn("file:///data", self.refused("stop", "ab", "-p", "s3://bucket/savepoints"))

    def test_a_range_is_told_in_few_words(self):
        said = self.refused("checkpoints", "gc", "/no/such", "--older-than", "-1")
        self.assertLess(len(said), 300, said)

    def test_a_savepoint_that_is_not_there_is_named_and_not_recommended(self):
        ended = run("run", WORDS, "-p", "1", "-s", "no/such/savepoint", "-D", "restart-strategy.type=none")
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertIn("could not start from " + os.getcwd() + "/no/such/savepoint", ended.stderr)
        self.assertNotIn("--from-savepoint", ended.stderr)

    def test_a_failure_is_told_once(self):
        ended = run("run", WORD_COUNT, "-p", "1", "--", "--input", "/no/such/input", "--output", "/no/such/output")
        self.assertEqual(ended.returncode, 1)
        self.assertEqual(ended.stderr.count("input not found"), 1, ended.stderr)

    def test_a_run_that_was_stopped_for_longer_than_heartbeats_may_goes_on(self):
        settings = ["-D", "heartbeat.interval=50 ms", "-D", "heartbeat.timeout=300 ms"]
        child = subprocess.Popen(
            [HEADRACE, "run", WORDS, "-p", "2", *settings, "--", "--count", "1500", "--rate", "500"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        with child:
            child.stdout.readline()
            child.send_signal(signal.SIGSTOP)
            threading.Event().wait(0.8)  # as Ctrl-Z and fg would
            child.send_signal(signal.SIGCONT)
            said = child.communicate(timeout=PATIENCE_S)[1]
        self.assertEqual(child.returncode, 0, said)
        self.assertIn("finished", said)

    def test_a_canceled_job_without_a_checkpoint_says_so(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number), tempfile.TemporaryDirectory() as directory:
                self.cancel_by(number, directory)

    def test_two_signals_at_once_cancel_the_job(self):
        with subprocess.Popen(
            [HEADRACE, "run", WORDS, "-p", "1", "--", "--count", "100000", "--rate", "10"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as child:
            child.stdout.readline()
            child.send_signal(signal.SIGSTOP)
            child.send_signal(signal.SIGINT)
            child.send_signal(signal.SIGTERM)
            child.send_signal(signal.SIGCONT)
            said = child.communicate(timeout=PATIENCE_S)[1]
        self.assertEqual(child.returncode, 3, said)
        self.assertIn("the job is being canceled", said)

    def cancel_by(self, number, directory):
        settings = ["-D", "execution.checkpointing.dir=" + directory, "-D", "io.tmp.dirs=" + directory]
        settings += ["-D", "execution.checkpointing.interval=1 h"]
        os.mkdir(directory + "/run-1")  # of a process that is no more
        open(directory + "/run-1/lock", "w").close()
        child = subprocess.Popen(
            [HEADRACE, "run", WORDS, "-p", "1", *settings, "--", "--count", "100000", "--rate", "10"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # under nohup it is ignored
        )
        with child:
            child.stdout.readline()
            child.send_signal(number)
            said = child.communicate(timeout=PATIENCE_S)[1]
        self.assertEqual(child.returncode, 3, said)
        self.assertIn("no checkpoint was complete", said)
        self.assertEqual([name for name in os.listdir(directory) if name.startswith("run-")], [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
