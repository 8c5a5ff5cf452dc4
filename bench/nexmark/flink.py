"""A Flink cluster of one job manager and one task manager as processes of this machine, and its client."""

import glob
import json
import os
import re
import subprocess
import time
import urllib.request

import flink_distribution
from run_nexmark import free_port

import processes

VERSION = flink_distribution.VERSION
JAVA_VERSION = 17
# What Flink's own configuration gives Java, that it may reach what it reflects on.
OPENED = [f"--add-exports={each}=ALL-UNNAMED" for each in (
    "java.rmi/sun.rmi.registry", "java.security.jgss/sun.security.krb5",
    *("jdk.compiler/com.sun.tools.javac." + part for part in ("api", "file", "parser", "tree", "util")))]
OPENED += [f"--add-opens=java.base/{each}=ALL-UNNAMED" for each in (
    "java.lang", "java.net", "java.io", "java.nio", "sun.nio.ch", "java.lang.reflect", "java.text", "java.time",
    "java.util", "java.util.concurrent", "java.util.concurrent.atomic", "java.util.concurrent.locks")]
LOGGING = """rootLogger.level = WARN
rootLogger.appenderRef.console.ref = console
appender.console.name = console
appender.console.type = CONSOLE
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d %-5p %c{1} %m%n
"""


def find_java():
    """A Java 17, of JAVA_HOME, the path, or where Debian puts it."""
    homes = [os.environ.get("JAVA_HOME", ""), *glob.glob("/usr/lib/jvm/*")]
    for java in [*(os.path.join(home, "bin", "java") for home in homes if home), "java"]:
        try:
            said = subprocess.run([java, "-version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  check=False).stdout
        except OSError:
            continue
        if re.search(rf'version "{JAVA_VERSION}[."]', said):
            return java
    raise SystemExit(f"no Java {JAVA_VERSION}: install openjdk-{JAVA_VERSION}-jdk-headless, or set JAVA_HOME")


class Cluster:
    """Started by the constructor; `settings` are Flink's, the task manager's heap `heap_mb`.

    `programs` are Java sources that its processes know beside Flink's own, instead of the client of SQL.
    """

    def __init__(self, cache, directory, slots, heap_mb, settings, programs=()):
        self.heap_mb = heap_mb
        self.java, self.home, self.directory = find_java(), flink_distribution.fetch(cache), directory
        self.class_path = flink_distribution.class_path(cache, *([programs] if programs else []))
        self.with_sql = not programs
        self.rest = free_port()
        self.settings = {
            "rest.port": self.rest, "rest.address": "127.0.0.1", "rest.bind-address": "127.0.0.1",
            "jobmanager.rpc.address": "127.0.0.1", "jobmanager.rpc.port": free_port(),
            "jobmanager.bind-host": "127.0.0.1", "taskmanager.bind-host": "127.0.0.1",
            "taskmanager.host": "127.0.0.1", "jobmanager.memory.process.size": "1g",
            "taskmanager.memory.task.heap.size": f"{heap_mb}m", "taskmanager.memory.managed.size": "256m",
            "taskmanager.memory.network.min": "64m", "taskmanager.memory.network.max": "64m",
            "taskmanager.numberOfTaskSlots": slots, "io.tmp.dirs": os.path.join(directory, "flink-tmp"),
            "metrics.fetcher.update-interval": "1 s", "heartbeat.interval": "1 s", "heartbeat.timeout": "60 s",
            **settings}
        os.makedirs(os.path.join(directory, "flink-tmp"), exist_ok=True)
        with open(os.path.join(directory, "config.yaml"), "w", encoding="utf-8") as out:
            out.writelines(f"{key}: {json.dumps(value)}\n" for key, value in self.settings.items())
        with open(os.path.join(directory, "log4j.properties"), "w", encoding="utf-8") as out:
            out.write(LOGGING)
        self.client, self.running = None, {}
        try:
            self.start()
        except BaseException:
            self.stop()
            raise

    def start(self):
        self.launch("jobmanager", "GET_JM_RESOURCE_PARAMS",
                    "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint")
        self.launch("taskmanager", "GET_TM_RESOURCE_PARAMS", "org.apache.flink.runtime.taskexecutor.TaskManagerRunner")
        deadline = time.monotonic() + 120
        while not self.has_slots():
            if time.monotonic() > deadline or any(each.poll() is not None for each in self.running.values()):
                raise RuntimeError(f"Flink's cluster does not start, see {self.directory}/*.log")
            time.sleep(0.2)
        if not self.with_sql:
            return
        self.client = subprocess.Popen(
            [self.java, "-Xmx512m", *OPENED, self.logging(), "-cp", self.class_path, "FlinkOracle",
             f"127.0.0.1:{self.rest}"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, stderr=self.log("client"))

    def logging(self):
        return f"-Dlog4j.configurationFile={self.directory}/log4j.properties"

    def log(self, name):
        return open(os.path.join(self.directory, name + ".log"), "w", encoding="utf-8")

    def launch(self, name, asks_for, main):
        """As Flink's scripts do, with what its own program says of memory."""
        jars = ":".join([os.path.join(self.home, "bin", "bash-java-utils.jar"),
                         *glob.glob(os.path.join(self.home, "lib", "flink-dist-*.jar"))])
        said = subprocess.run([self.java, "-cp", jars, "org.apache.flink.runtime.util.bash.BashJavaUtils", asks_for,
                               "--configDir", self.directory], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, check=False)
        lines = re.findall(r"^BASH_JAVA_UTILS_EXEC_RESULT:(.*)$", said.stdout, re.MULTILINE)
        if len(lines) != 2:
            raise RuntimeError(f"Flink refuses its settings: {said.stdout}{said.stderr}")
        options, dynamic = (line.split() for line in lines)
        log = self.log(name)
        self.running[name] = subprocess.Popen(
            [self.java, "-XX:+UseG1GC", *options, *OPENED, self.logging(), "-cp", self.class_path, main, "--configDir",
             self.directory, *dynamic], stdout=log, stderr=log)

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.rest}{path}", timeout=20) as answer:
            return json.load(answer)

    def has_slots(self):
        try:
            return self.get("/overview")["slots-total"] > 0
        except OSError:
            return False

    def ask(self, **request):
        self.client.stdin.write(json.dumps(request) + "\n")
        self.client.stdin.flush()
        line = self.client.stdout.readline()
        if not line:
            raise RuntimeError(f"Flink's client has ended, see {self.directory}/client.log")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(f"Flink: {answer['error'][:2000]}")
        return answer

    def prepare(self, statements, settings):
        """A new session with settings and tables."""
        self.ask(reset=True)
        for key, value in settings.items():
            self.ask(sql=f"SET '{key}' = '{value}'")
        for sql in statements:
            self.ask(sql=sql)

    def pids(self):
        return {name: each.pid for name, each in self.running.items()}

    def measure(self, insert, patience_s):
        """Runs a statement of the session to its end; times are from its submission to the last row."""
        cpu = {name: processes.cpu_seconds(pid) for name, pid in {**self.pids(), "client": self.client.pid}.items()}
        asked = Asked(self)
        # Seldom, as the job manager pays for its answers.
        watch = processes.Watch(self.pids(), asked.events_read, ask_every_s=1.0)
        began = time.time()
        try:
            job = asked.job = self.ask(sql=insert, submit=True)["job"]
            state = self.wait(job, began + patience_s)
        finally:
            peak, peaks, samples = watch.stop()
        cpu = {name: processes.cpu_seconds(pid) - cpu[name]
               for name, pid in {**self.pids(), "client": self.client.pid}.items()}
        kept = self.get(f"/jobs/{job}/checkpoints/config").get("state_backend", "")
        return {"seconds": state["timestamps"]["FINISHED"] / 1000 - began,
                "core_seconds": cpu["jobmanager"] + cpu["taskmanager"], "core_seconds_of": cpu,
                "peak_memory_bytes": peak, "peak_memory_bytes_of": peaks, "samples": samples,
                "state_backend": kept, "checkpoints": self.get(f"/jobs/{job}/checkpoints")["counts"]["completed"]}

    def wait(self, job, until):
        while True:
            state = self.get(f"/jobs/{job}")
            if state["state"] == "FINISHED":
                return state
            if state["state"] in ("FAILED", "CANCELED", "RESTARTING", "FAILING") or time.time() > until:
                why = self.get(f"/jobs/{job}/exceptions")
                urllib.request.urlopen(urllib.request.Request(
                    f"http://127.0.0.1:{self.rest}/jobs/{job}", method="PATCH"), timeout=20)
                raise RuntimeError(f"Flink's job is {state['state']}: {json.dumps(why)[:1500]}")
            time.sleep(0.25)

    def stop(self):
        ended = [*self.running.values(), *([self.client] if self.client else [])]
        for each in ended:
            each.terminate()
        for each in ended:
            try:
                each.wait(30)
            except subprocess.TimeoutExpired:
                each.kill()
                each.wait()


class Asked:
    """Asks for what the sources of a job have read; each of them reads all events."""

    def __init__(self, cluster):
        self.cluster, self.job, self.names = cluster, None, {}

    def events_read(self):
        if self.job is None:
            return None
        try:
            if not self.names:
                self.find_names()
            read, sources = 0, set()
            for vertex, names in self.names.items():
                for each in self.cluster.get(f"/jobs/{self.job}/vertices/{vertex}/metrics?get={','.join(names)}"):
                    read += int(float(each["value"]))
                    sources.add((vertex, each["id"].split(".", 1)[1]))
            return read / len(sources) if sources else None
        except (OSError, ValueError, KeyError):
            return None

    def find_names(self):
        for vertex in self.cluster.get(f"/jobs/{self.job}")["vertices"]:
            if vertex["name"].startswith("Source:"):
                every = self.cluster.get(f"/jobs/{self.job}/vertices/{vertex['id']}/metrics")
                wanted = [each["id"] for each in every if re.search(r"\.Source__.*\.numRecordsOut$", each["id"])]
                if wanted:
                    self.names[vertex["id"]] = wanted
