"""The processes of one run: a job manager and its task managers, on loopback or on hosts."""

import contextlib
import json
import random
import signal
import socket
import subprocess
import sys
import time

SLOTS = 2


class Failure(Exception):
    pass


class Unproven(Failure):
    """The job went well but was not disturbed enough to prove anything: the machine was slow."""


def free_port():
    """A port below those that the system gives to others while a killed process is away."""
    while True:
        port = random.SystemRandom().randrange(20_000, 32_000)
        with socket.socket() as made, contextlib.suppress(OSError):
            made.bind(("127.0.0.1", port))
            return port


class Loopback:
    """Where all processes run on this machine, each on a port of its own."""

    address = "127.0.0.1"
    settings = {}

    @staticmethod
    def words(*command):
        return list(command)


class Cluster:
    """Starts and ends processes; all are ended with it.

    `hosts` are where they run: the job manager on the first, the task managers on one each of the
    others. Without hosts all run on loopback.
    """

    def __init__(self, headrace, directory, settings, hosts=None):
        self.headrace = headrace
        self.directory = directory
        self.settings = settings
        self.hosts = hosts or [Loopback] * 4
        self.rpc_port, self.rest_port = free_port(), free_port()
        self.started = 0
        self.job_manager = None
        self.task_managers = []
        self.silence = ""
        self.job = None  # the one that runs, and how it was submitted
        self.submitted = ()
        self.crashed = []  # processes that ended though nobody had told them to, with their codes

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in [self.job_manager, *self.task_managers]:
            if process is not None and process.poll() is None:
                process.send_signal(signal.SIGKILL)
                process.wait()

    def _start(self, role, host, **settings):
        self.started += 1
        name = f"{self.started:02}-{role}"
        ready = self.directory / f"{name}.ready"
        words = host.words(str(self.headrace), "node", "--role", role, "--ready-file", str(ready))
        settings = {
            **self.settings,
            **host.settings,
            "jobmanager.rpc.address": self.hosts[0].address,
            "jobmanager.rpc.port": self.rpc_port,
            "io.tmp.dirs": self.directory / "tmp",
            "log.file": self.directory / f"{name}.log",
            **settings,
        }
        for key, value in settings.items():
            words += ["-D", f"{key}={value}"]
        with open(self.directory / f"{name}.out", "wb") as out:
            process = subprocess.Popen(words, stdout=out, stderr=subprocess.STDOUT,
                                       stdin=subprocess.DEVNULL)
        process.ready = ready
        process.name = name
        process.host = host
        return process

    def start_job_manager(self):
        host = self.hosts[0]
        self.job_manager = self._start(
            "jobmanager", host, **{
                "jobmanager.bind-host": host.address,
                "rest.port": self.rest_port,
                "high-availability.storageDir": self.directory / "jobmanager",
            })
        self.await_ready(self.job_manager)

    def start_task_managers(self):
        for host in self.hosts[1:]:
            self.start_task_manager(host)

    def start_task_manager(self, host):
        self.task_managers.append(
            self._start("taskmanager", host, **{
                "taskmanager.bind-host": host.address,
                "taskmanager.numberOfTaskSlots": SLOTS,
            }))

    def await_ready(self, process, seconds=60):
        end = time.monotonic() + seconds
        while not process.ready.exists():
            if process.poll() is not None:
                raise Failure(f"{process.name} ended with {process.returncode}")
            if time.monotonic() > end:
                raise Failure(f"{process.name} was not ready in {seconds} s")
            time.sleep(0.01)

    def kill(self, process):
        process.send_signal(signal.SIGKILL)
        process.wait()
        if process in self.task_managers:
            self.task_managers.remove(process)

    def end(self, process, seconds=30):
        """Tells a process to end in order."""
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failure(f"{process.name} did not end in {seconds} s after SIGTERM") from None
        if process.returncode != 0:
            raise Failure(f"{process.name} ended with {process.returncode} after SIGTERM")
        if process in self.task_managers:
            self.task_managers.remove(process)

    def mend(self):
        """Starts what has ended by itself, as a supervisor would, and remembers it."""
        for process in list(self.task_managers):
            if process.poll() is not None:
                self.crashed.append(f"{process.name}: {process.returncode}")
                self.task_managers.remove(process)
                self.start_task_manager(process.host)
        if self.job_manager.poll() is not None:
            self.crashed.append(f"{self.job_manager.name}: {self.job_manager.returncode}")
            self.start_job_manager()

    def client(self, *words, seconds=60):
        """Runs a client on the job manager's host; nothing between hosts is in its way."""
        return subprocess.run(
            self.hosts[0].words(str(self.headrace), *words),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=seconds, check=False, text=True)

    def target(self):
        # A client beats as the cluster does, or is held for dead while it waits for an answer.
        beats = {key: value for key, value in self.settings.items() if key.startswith("heartbeat.")}
        settings = {**beats, **self.hosts[0].settings}
        return ["--target", f"127.0.0.1:{self.rest_port}",
                *(f"-D{key}={value}" for key, value in settings.items())]

    def submit(self, job, arguments, *options, parallelism=4):
        """Runs the job object `job`; `self.job` is its id."""
        done = self.client("run", str(job), *self.target(), "--detached", "--json", *options,
                           "--parallelism", str(parallelism), "--", *arguments)
        if done.returncode != 0:
            raise Failure(f"job was not submitted: {done.stderr.strip()}")
        self.submitted = (job, arguments)
        self.job = json.loads(done.stdout)["id"]

    def move(self, parallelism, savepoint_type, seconds=60):
        """Stops the job with a savepoint, and goes on from it at another parallelism."""
        path = self.stop("--type", savepoint_type, seconds=seconds)
        if path is None:
            raise Unproven("job ended before it was moved: throttle it more")
        self.submit(*self.submitted, "--from-savepoint", path, parallelism=parallelism)

    def stop(self, *options, seconds=60):
        """Stops the job with a savepoint. @returns where that is; none: the job had ended"""
        directory = self.directory / "savepoints"
        end = time.monotonic() + seconds
        while True:
            done = self.client("stop", self.job, "--savepoint-path", str(directory), *options,
                               *self.target(), seconds=seconds)
            if done.returncode == 0:
                return done.stdout.split()[-1]
            status = self.info(self.job)
            if status is not None and status["state"] == "FINISHED":  # the answer was lost
                complete = list(directory.glob("savepoint-*/_metadata"))
                return str(complete[0].parent) if complete else None
            if time.monotonic() > end:
                raise Failure(f"job was not stopped in {seconds} s: {done.stderr.strip()}")
            self.mend()  # it may just be restarting: then nothing has happened
            time.sleep(0.1)

    def _ask(self, *words):
        """What a client prints; none while the job manager is away: `silence` says why."""
        done = self.client(*words, "--json", *self.target())
        self.silence = done.stderr.strip()
        return json.loads(done.stdout) if done.returncode == 0 else None

    def info(self, job):
        """The job's status, or none."""
        return self._ask("info", job)

    def in_flight_bytes(self, job):
        """What the job's newest checkpoint has stored of rows in flight; 0 when nobody answers."""
        url = f"http://127.0.0.1:{self.rest_port}/v1/jobs/{job}/checkpoints"
        fetch = f"import urllib.request as r; print(r.urlopen('{url}', timeout=5).read().decode())"
        done = subprocess.run(self.hosts[0].words(sys.executable, "-c", fetch), check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60)
        newest = json.loads(done.stdout)["latest"]["completed"] if done.returncode == 0 else None
        return newest["persisted_data"] if newest else 0

    def has_splits(self, checkpoint):
        """Whether the readers of a checkpoint have something left to read; none: it is not there."""
        done = self.client("savepoint", "inspect", checkpoint, "--json")
        if done.returncode != 0:
            return None
        return any(state["name"] == "splits" for operator in json.loads(done.stdout)["operators"]
                   for state in operator["states"])

    def actors(self):
        """All actors of all nodes, or none."""
        return self._ask("actors")
