#!/usr/bin/env python3
"""Runs jobs on a cluster whose processes stand elsewhere, and may be lost meanwhile."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

HEADRACE, WORDS, FUNCTIONS = map(os.path.abspath, sys.argv[1:4])
PATIENCE_S = 100
PAUSE_S = 0.01


def until(look):
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(PAUSE_S)  # what it waits for needs the processor
    raise AssertionError("it did not come about")


class Cluster:
    """A job manager and a task manager, each in a working directory of its own."""

    def __init__(self, directory, *job_manager_words):
        self.directory = directory
        self.job_manager_words = job_manager_words
        self.rpc_port = self.rest_port = 0
        self.processes = []
        self.job_manager = self.start_job_manager()
        self.task_manager = self.start("taskmanager", "-D", f"jobmanager.rpc.port={self.rpc_port}")

    def start(self, role, *words):
        here = f"{self.directory}/{role}"
        os.makedirs(here, exist_ok=True)
        ready = here + "/ready"
        if os.path.exists(ready):
            os.remove(ready)
        command = [HEADRACE, "node", "--role", role, "--ready-file", ready, "-D", "io.tmp.dirs=tmp"]
        command += ["-D", "log.level=warn", *words]
        started = subprocess.Popen(command, cwd=here, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.processes.append(started)
        until(lambda: os.path.exists(ready) or started.poll() is not None)
        with open(ready) as told:
            self.told = told.read()
        return started

    def start_job_manager(self):
        words = ["-D", f"jobmanager.rpc.port={self.rpc_port}", "-D", f"rest.port={self.rest_port}"]
        words += self.job_manager_words
        started = self.start("jobmanager", *words)
        self.rpc_port = int(re.search(r"rpc\D*(\d+)$", self.told, re.M)[1])
        self.rest_port = int(re.search(r"rest\D*(\d+)$", self.told, re.M)[1])
        return started

    def command(self, *words):
        return [HEADRACE, words[0], "--target", f"127.0.0.1:{self.rest_port}", *words[1:]]

    def run(self, *words):
        return subprocess.run(
            self.command(*words), cwd=self.directory, capture_output=True, text=True, timeout=PATIENCE_S
        )

    def get(self, path):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.rest_port}{path}", timeout=PATIENCE_S) as answer:
                return json.load(answer)
        except urllib.error.HTTPError:  # no dispatcher leads yet
            return None

    def submit(self, *words):
        ended = self.run("run", WORDS, "-d", "-p", "1", *words, "--", "--count", "1000000000", "--rate", "1000")
        assert ended.returncode == 0, ended.stderr
        job = ended.stdout.strip()
        until(lambda: (self.get(f"/jobs/{job}") or {}).get("state") == "RUNNING")
        return job

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()


class Orders(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.directory = os.path.realpath(holder.name)

    def test_relative_directories_begin_where_the_command_is_given(self):
        with Cluster(self.directory) as cluster:
            settings = ["-D", "execution.checkpointing.dir=checkpoints"]
            settings += ["-D", f"execution.checkpointing.savepoint-dir=file://{self.directory}/savepoints"]
            job = cluster.submit(*settings)
            ended = cluster.run("stop", job)
            self.assertEqual(ended.returncode, 0, ended.stderr)
            path = ended.stdout.strip()
            self.assertTrue(path.startswith(self.directory + "/savepoints/savepoint-"), path)
            self.assertGreater(len(os.listdir(path)), 1)
            for role in ("jobmanager", "taskmanager"):
                self.assertFalse(os.path.exists(f"{self.directory}/{role}/checkpoints"))
            self.assertTrue(os.path.isdir(f"{self.directory}/checkpoints"))
            again = cluster.submit("-s", os.path.relpath(path, self.directory))
            self.assertEqual(cluster.run("cancel", again).returncode, 0)

    def test_jobs_get_the_settings_of_the_cluster_behind_their_clients_own(self):
        own, ours = self.directory + "/own", self.directory + "/jobmanager/ours"
        words = ["-D", "execution.checkpointing.savepoint-dir=ours", "-D", "state.backend.type=rocksdb"]
        with Cluster(self.directory, *words) as cluster:
            for settings, where, files in (
                ([], ours, "rocksdb"),
                (["-D", f"execution.checkpointing.savepoint-dir={own}", "-D", "state.backend.type=hashmap"], own, ""),
            ):
                job = cluster.submit(*settings)
                ended = cluster.run("stop", job)
                self.assertEqual(ended.returncode, 0, ended.stderr)
                self.assertTrue(ended.stdout.strip().startswith(where + "/savepoint-"), ended.stdout)
                self.assertEqual(self.backend_of(cluster, settings), files or "hashmap")

    def backend_of(self, cluster, settings):
        """Of a job of the shell, whose state a native savepoint has."""
        with open(f"{self.directory}/script.sql", "w") as script:
            script.write(
                "CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '1000');"
                "CREATE TABLE away (n BIGINT, c BIGINT) WITH ('connector' = 'blackhole');"
                "INSERT INTO away SELECT n, COUNT(*) FROM numbers GROUP BY n;"
            )
        ended = cluster.run("run", "script.sql", "-d", *settings)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        job = ended.stdout.strip()
        until(lambda: (cluster.get(f"/jobs/{job}") or {}).get("state") == "RUNNING")
        stopped = cluster.run("stop", job, "--type", "native", "--savepoint-path", self.directory + "/native")
        self.assertEqual(stopped.returncode, 0, stopped.stderr)
        inspected = subprocess.run(
            [HEADRACE, "savepoint", "inspect", stopped.stdout.strip(), "--json"],
            capture_output=True, text=True, timeout=PATIENCE_S, check=True,
        )
        forms = [form for each in json.loads(inspected.stdout)["operators"] for form in each["nativeForms"]]
        return "rocksdb" if any("rocksdb" in form for form in forms) else "hashmap"

    def test_a_library_of_functions_is_sent_to_the_task_managers(self):
        with Cluster(self.directory) as cluster:
            shutil.copy(FUNCTIONS, f"{self.directory}/mine.so")
            with open(f"{self.directory}/script.sql", "w") as script:
                script.write(
                    "CREATE FUNCTION split AS 'split_words' LANGUAGE CPP USING LIBRARY 'mine.so';"
                    "CREATE FUNCTION distance AS 'levenshtein' LANGUAGE CPP USING LIBRARY 'mine.so';"
                    "CREATE FUNCTION mean AS 'geometric_mean' LANGUAGE CPP USING LIBRARY 'mine.so';"
                    "SELECT MAX(distance(word, 'sitting')), ROUND(mean(place), 6)"
                    " FROM (VALUES ('a kitten'), ('b lawn')) AS t (s), LATERAL TABLE(split(s));"
                )
            for _ in range(2):
                ended = cluster.run("run", "script.sql", "-q", "--format", "csv")
                self.assertEqual(ended.returncode, 0, ended.stderr)
                self.assertEqual(ended.stdout.split("\n")[1], "7,1.414214")

    def test_a_savepoint_is_ordered_again_when_the_job_manager_was_lost(self):
        with Cluster(self.directory) as cluster:
            job = cluster.submit("-D", "execution.checkpointing.dir=checkpoints")
            os.kill(cluster.task_manager.pid, signal.SIGSTOP)  # so that it cannot be taken yet
            ordered = subprocess.Popen(
                cluster.command("savepoint", job, "--directory", self.directory + "/a"),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            with ordered:
                until(lambda: cluster.get(f"/jobs/{job}/checkpoints")["counts"]["in_progress"] > 0)
                cluster.job_manager.kill()
                cluster.job_manager.wait()
                said = ordered.stderr.readline()
                os.kill(cluster.task_manager.pid, signal.SIGCONT)
                cluster.start_job_manager()
                path, more = ordered.communicate(timeout=PATIENCE_S)
            self.assertIn("job manager does not answer", said)
            self.assertEqual(ordered.returncode, 0, said + more)
            self.assertTrue(os.path.exists(path.strip() + "/_metadata"), path)
            self.assertEqual(cluster.run("cancel", job).returncode, 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
