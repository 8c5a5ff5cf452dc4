"""CPU time and memory of processes, as /proc tells."""

import os
import threading
import time

TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    """User and system time of a process, and of its children that have ended."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        fields = file.read().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / TICKS


def status_bytes(pid, name):
    """A line of /proc/PID/status, 0 of a process that has ended."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:
            for line in file:
                if line.startswith(name + ":"):
                    return int(line.split()[1]) * 1024
    except (FileNotFoundError, ProcessLookupError):
        pass
    return 0


def forget_peak(pid):
    """Lets the peak of resident memory begin anew."""
    with open(f"/proc/{pid}/clear_refs", "w", encoding="utf-8") as file:
        file.write("5")


def machine():
    """What it is that everything runs on."""
    def first(path, name):
        with open(path, encoding="utf-8") as file:
            return next((line.partition(":")[2].strip() for line in file if line.startswith(name)), "")
    return {"processor": first("/proc/cpuinfo", "model name"), "cores": os.cpu_count(),
            "memory": first("/proc/meminfo", "MemTotal"), "kernel": os.uname().release}


class Watch:
    """Samples the resident memory of some processes together, and what else is asked for, until `stop`.

    `processes` has names and ids; `ask`, if any, gives the events read so far, or None.
    """

    def __init__(self, processes, ask=None, every_s=0.05, ask_every_s=0.25):
        self.processes, self.ask, self.every_s, self.ask_every_s = processes, ask, every_s, ask_every_s
        self.peak, self.peaks, self.samples = 0, {}, []
        self.began, self.ended = time.monotonic(), threading.Event()
        for pid in processes.values():
            forget_peak(pid)
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        asked = 0.0
        while not self.ended.wait(self.every_s):
            self.peak = max(self.peak, sum(status_bytes(pid, "VmRSS") for pid in self.processes.values()))
            for name, pid in self.processes.items():  # one that ends leaves what was seen of it
                self.peaks[name] = max(self.peaks.get(name, 0), status_bytes(pid, "VmHWM"))
            if self.ask and time.monotonic() - asked >= self.ask_every_s:
                asked = time.monotonic()
                read = self.ask()
                if read is not None:
                    self.samples.append((time.monotonic() - self.began, read))

    def stop(self):
        """Peak of all together; of each; and the samples."""
        self.ended.set()
        self.thread.join()
        for name, pid in self.processes.items():
            self.peaks[name] = max(self.peaks.get(name, 0), status_bytes(pid, "VmHWM"))
        if len(self.processes) == 1:  # known exactly, also between samples
            self.peak = max(self.peak, *self.peaks.values())
        return self.peak, self.peaks, self.samples
