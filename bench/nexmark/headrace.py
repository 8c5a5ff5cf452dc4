"""One run of a script by `headrace run`: a process of its own, from its start to its end."""

import json
import os
import subprocess
import time
import urllib.request

from run_nexmark import command, free_port

import processes


def measure(headrace, script, parallelism, settings, patience_s):
    """Times are from the start of the process, the reading of the script included, to its end."""
    port = free_port()
    given = {**settings, "rest.port": port, "heartbeat.interval": "200 ms"}
    words = [headrace, "run", script, "-q", "-p", str(parallelism)]
    for key, value in given.items():
        words += ["-D", f"{key}={value}"]
    began = time.time()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        watch = processes.Watch({"headrace": process.pid}, lambda: events_read(port), every_s=0.02)
    except OSError:
        process.kill()
        raise
    try:
        said = end_of(process, began + patience_s)
    finally:
        peak, peaks, samples = watch.stop()
    code, usage, ended, words_said = said
    if code != 0:
        raise RuntimeError(f"headrace run {script}: code {code}: {words_said}")
    cpu = usage.ru_utime + usage.ru_stime
    return {"seconds": ended - began, "core_seconds": cpu, "core_seconds_of": {"headrace": cpu},
            "peak_memory_bytes": peak, "peak_memory_bytes_of": peaks, "samples": samples,
            "state_backend": settings.get("state.backend.type", "hashmap"), "settings": given}


def end_of(process, until):
    """Exit code, CPU time, and the moment of the end, which wait4 alone tells of one process."""
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            ended = time.time()
            process.returncode = os.waitstatus_to_exitcode(status)
            words = process.stderr.read().decode(errors="replace")
            process.stderr.close()
            return process.returncode, usage, ended, words
        if time.time() > until:
            process.kill()
        time.sleep(0.002)


def events_read(port):
    """What the sources have read; each of them reads all events. None while nothing answers."""
    def get(path):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=2) as answer:
            return json.load(answer)
    try:
        jobs = get("/jobs")["jobs"]
        if not jobs:
            return None
        sources = [vertex for vertex in get(f"/jobs/{jobs[-1]['id']}")["vertices"]
                   if vertex["name"].startswith("nexmark")]
        read = [vertex["metrics"]["read-records"] for vertex in sources]
        return sum(read) / len(read) if read else None
    except (OSError, ValueError, KeyError):
        return None


def count_rows(headrace, script, parallelism):
    """The one number that a script of SELECT COUNT(*) gives."""
    said = command(headrace, "run", script, "-q", "-p", str(parallelism), "--format", "json").strip()
    return int(json.loads(said.split("\n")[-1])["result_rows"]) if said else 0
