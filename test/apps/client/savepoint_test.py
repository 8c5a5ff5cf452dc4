#!/usr/bin/env python3
"""Takes savepoints of a job that runs, ends it with one, looks into them, and runs it on from them."""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

HEADRACE, DETECTOR, WORDS, SEED = sys.argv[1:5]
PATIENCE_S = 100
PAUSE_S = 0.01


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_S)


class RunningJob:
    """The fraud detector in a process with a REST interface."""

    def __init__(self, directory, *words):
        command = [HEADRACE, "run", DETECTOR, *words, "-D", "rest.port=0", "-D", "io.tmp.dirs=" + directory]
        command += ["--", "--count", "100000000", "--rate", "2000"]
        self.process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        try:
            self.await_running()
        except BaseException:
            self.__exit__()
            raise

    def await_running(self):
        for line in self.process.stderr:
            found = re.match(r"REST interface: (\S+)", line)
            if found:
                self.base = found[1]
                break
        else:
            raise AssertionError("the run has told no REST interface")
        self.job = self.until(self.jobs)[0]["id"]
        self.until(lambda: self.get(f"/jobs/{self.job}")["state"] == "RUNNING")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, method=method)
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return json.load(answer)

    def jobs(self):
        try:
            return self.get("/jobs")["jobs"]
        except urllib.error.HTTPError as error:
            if error.code != 503:  # no dispatcher leads yet
                raise
            return None

    def get(self, path):
        return self.call("GET", path)

    @staticmethod
    def until(look):
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            found = look()
            if found:
                return found
            time.sleep(PAUSE_S)  # what it waits for needs the processor
        raise AssertionError("it did not come about")

    def await_operation(self, request):
        def look():
            told = self.get(f"/jobs/{self.job}/savepoints/{request}")
            return told if told["status"]["id"] == "COMPLETED" else None

        return self.until(look)["operation"]

    def end(self):
        self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode


class Savepoints(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.directory = os.path.realpath(holder.name)

    def inspect(self, *words):
        ended = run(HEADRACE, "savepoint", "inspect", *words)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return ended.stdout

    def stop_with_savepoint(self):
        with RunningJob(self.directory, "-p", "2") as job:
            job.until(lambda: job.get(f"/jobs/{job.job}")["vertices"][-1]["metrics"]["read-records"] > 100)
            taken = job.call("POST", f"/jobs/{job.job}/savepoints", {"target-directory": self.directory + "/a"})
            first = job.await_operation(taken["request-id"])["location"]
            order = {"targetDirectory": self.directory + "/b", "triggerId": "ab" * 16}
            self.assertEqual(job.call("POST", f"/jobs/{job.job}/stop", order)["request-id"], "ab" * 16)
            self.assertEqual(job.end(), 0)
        found = os.listdir(self.directory + "/b")
        self.assertEqual(len(found), 1)
        return first, f"{self.directory}/b/{found[0]}"

    def test_a_negative_limit_is_bad_usage(self):
        ended = run(HEADRACE, "savepoint", "inspect", self.directory, "--state", "s", "--limit", "-1")
        self.assertEqual(ended.returncode, 2, ended.stderr)
        self.assertIn("--limit", ended.stderr)

    def test_a_job_is_stopped_looked_into_and_run_on(self):
        first, last = self.stop_with_savepoint()
        moved = self.directory + "/moved"
        os.rename(last, moved)
        self.assertTrue(os.path.exists(first + "/_metadata"))

        told = json.loads(self.inspect(moved, "--json"))
        self.assertEqual(told["kind"], "savepoint")
        detector = next(one for one in told["operators"] if one["uid"] == "fraud-detector")
        states = {state["name"]: state for state in detector["states"]}
        self.assertEqual(states["was small"]["kind"], "value")
        self.assertEqual(states["was small"]["type"], "BOOLEAN NOT NULL")
        self.assertIn("fraud-detector", self.inspect(moved))
        for row in self.inspect(moved, "--operator", "fraud-detector", "--state", "timer").splitlines():
            self.assertIn("account", json.loads(row)["key"])
        ended = run(HEADRACE, "savepoint", "inspect", moved, "--state", "nothing")
        self.assertEqual(ended.returncode, 1)
        self.assertIn("`was small` of", ended.stderr)
        ended = run(SEED, "read", moved)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(len(ended.stdout.splitlines()), states["was small"]["keys"])

        with RunningJob(self.directory, "-p", "3", "--from-savepoint", moved) as job:
            restored = job.get(f"/jobs/{job.job}/checkpoints")["latest"]["restored"]
            self.assertTrue(restored["is_savepoint"])
            self.assertEqual(restored["external_path"], moved)
            job.call("PATCH", f"/jobs/{job.job}")
            self.assertEqual(job.end(), 3)

    def test_a_job_begins_with_a_savepoint_that_none_took(self):
        seeded = self.directory + "/seeded"
        self.assertEqual(run(SEED, "write", seeded, "1", "2", "3").returncode, 0)
        self.assertEqual(run(SEED, "read", seeded).stdout.count("was small"), 3)

        ended = run(HEADRACE, "run", DETECTOR, "-q", "-s", seeded, "--", "--count", "25")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(len(ended.stdout.splitlines()), 5, ended.stdout)
        ended = run(HEADRACE, "run", WORDS, "-q", "-s", seeded)
        self.assertEqual(ended.returncode, 1)
        self.assertIn("uid `fraud-detector`", ended.stderr)
        ended = run(HEADRACE, "run", WORDS, "-q", "-n", "-s", seeded)
        self.assertEqual(ended.returncode, 0, ended.stderr)

    def test_wrong_words_are_refused(self):
        self.assertEqual(run(HEADRACE, "savepoint").returncode, 2)
        self.assertEqual(run(HEADRACE, "savepoint", "inspect", "/no/such/savepoint").returncode, 1)
        self.assertEqual(run(HEADRACE, "stop", "ab", "--type", "other").returncode, 2)

    def test_what_aborted_checkpoints_left_is_listed_and_removed(self):
        left = f"{self.directory}/{'ab' * 16}/chk-7"
        os.makedirs(left)
        with open(left + "/part", "w") as part:
            part.write("half")
        ended = run(HEADRACE, "checkpoints", "gc", self.directory)
        self.assertIn("removed: 0", ended.stdout)
        ended = run(HEADRACE, "checkpoints", "gc", self.directory, "--older-than", "0", "--dry-run")
        self.assertIn(left, ended.stdout)
        self.assertTrue(os.path.exists(left))
        self.assertEqual(run(HEADRACE, "checkpoints", "gc", self.directory, "--older-than", "0").returncode, 0)
        self.assertFalse(os.path.exists(left))
        os.mkdir(self.directory + "/elsewhere")
        ended = run(HEADRACE, "checkpoints", "gc", self.directory + "/elsewhere", "--dry-run")
        self.assertEqual(ended.returncode, 1)
        self.assertIn("no checkpoints there", ended.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
