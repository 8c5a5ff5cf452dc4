"""What is done to a cluster while it runs a job, drawn from a seed."""

import signal
import time

# How long a fault of the network lasts, in heartbeat timeouts: it is not, or surely, noticed.
SHORT = (0.05, 0.4)
LONG = (1.5, 3.0)
RESETS = 5
PARALLELISM_AFTER = (2, 3, 5, 6)  # of a job that ran at 4; all slots are taken at 6
DELAY_OF_TIMEOUT = 0.15


class Disturber:
    """Carries out a plan, a step when one is due.

    The first step waits for a completed checkpoint, each other for one since the last step, but some
    come at once, so that they meet a job that is just being restarted.
    """

    # Whether a job that is not restarted was disturbed too little.
    wants_restart = False
    # Whether a job that is restarted is wrong.
    forbids_restart = True

    def __init__(self, cluster, drawn, plan):
        self.cluster = cluster
        self.drawn = drawn
        self.plan = plan
        self.done = []
        self._comes_at_once = [False] + [drawn.random() < 0.4 for _ in plan[1:]]
        self._next_checkpoint = 1

    def is_over(self):
        return len(self.done) == len(self.plan)

    def is_due(self, status):
        """`status` is the job's, or none while the job manager is away."""
        if self.is_over():
            return False
        if self._comes_at_once[len(self.done)]:
            return True
        if (status is None or status["state"] != "RUNNING"
                or status["lastCheckpoint"] < self._next_checkpoint):
            return False
        self._next_checkpoint = status["lastCheckpoint"] + 1
        return True

    def disturb(self):
        time.sleep(self.drawn.uniform(0, 0.3))
        what = self.plan[len(self.done)]
        self.done.append(what)
        getattr(self, "_" + what.split(":")[0].replace(" ", "_"))(*what.split(":")[1:])

    def move_in_the_middle(self, types):
        """Has the job stopped with a savepoint, of one of these types, and restored at another
        parallelism: between the first and the last step."""
        at = self.drawn.randint(1, len(self.plan) - 1)
        parallelism = self.drawn.choice(PARALLELISM_AFTER)
        self.plan.insert(at, f"move:{parallelism}:{self.drawn.choice(types)}")
        self._comes_at_once.insert(at, self.drawn.random() < 0.4)

    def _move(self, parallelism, savepoint_type):
        self.cluster.move(int(parallelism), savepoint_type)
        self._next_checkpoint = 1

    def counts(self):
        """Figures that say how much was disturbed."""
        return {}

    def _stop_for_a_while(self, process):
        process.send_signal(signal.SIGSTOP)
        time.sleep(self.drawn.uniform(0.1, 2.5))
        process.send_signal(signal.SIGCONT)


class ProcessDisturber(Disturber):
    """Kills and stops processes; what was killed is started again."""

    wants_restart = True
    forbids_restart = False

    def __init__(self, cluster, drawn, with_job_manager):
        plan = [drawn.choice(["kill", "stop"]) for _ in range(drawn.randint(2, 3))]
        if with_job_manager:
            plan.insert(drawn.randrange(len(plan) + 1), "job manager")
        super().__init__(cluster, drawn, plan)

    def _kill(self):
        victim = self.drawn.choice(self.cluster.task_managers)
        self.cluster.kill(victim)
        time.sleep(self.drawn.uniform(0, 0.5))
        self.cluster.start_task_manager(victim.host)

    def _stop(self):
        self._stop_for_a_while(self.drawn.choice(self.cluster.task_managers))

    def _job_manager(self):
        self.cluster.kill(self.cluster.job_manager)
        time.sleep(self.drawn.uniform(0, 1.5))
        self.cluster.start_job_manager()


class StormDisturber(ProcessDisturber):
    """Kills, stops and ends any process in order, at any time: while the job starts and ends, too.

    A third of the storms end with a kill of the job manager while it removes the checkpoints of the
    job that has just ended.
    """

    wants_restart = False
    gap_s = 0.8
    last = "job manager at the end"

    def __init__(self, cluster, drawn):
        super().__init__(cluster, drawn, with_job_manager=False)
        self.plan = [drawn.choice(["kill", "kill", "stop", "term", "job manager", "job manager stop",
                                   "job manager term"]) for _ in range(drawn.randint(1, 8))]
        self._next_at = time.monotonic() + drawn.uniform(0, self.gap_s)
        if drawn.random() < 1 / 3:
            self.plan = [*self.plan[:2], self.last]

    def is_due(self, status):
        if self.is_over():
            return False
        if self.plan[len(self.done)] != self.last:
            return time.monotonic() >= self._next_at
        return status is not None and status["lastCheckpoint"] > 0 and self._await_removal()

    def disturb(self):
        if self.plan[len(self.done)] == self.last:
            self.done.append(self.last)
            self._job_manager()
            return
        super().disturb()
        self._next_at = time.monotonic() + self.drawn.uniform(0, self.gap_s)

    def _await_removal(self, seconds=10):
        """Whether the job's last checkpoint was removed in time, and just now."""
        directory = self.cluster.directory / "jobmanager/checkpoints"
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                is_empty = not any(directory.glob("*/chk-*"))
            except FileNotFoundError:  # the job's directory went while it was read
                is_empty = True
            if is_empty:
                return True
        return False

    def _term(self):
        victim = self.drawn.choice(self.cluster.task_managers)
        self.cluster.end(victim)
        self.cluster.start_task_manager(victim.host)

    def _job_manager_stop(self):
        self._stop_for_a_while(self.cluster.job_manager)

    def _job_manager_term(self):
        self.cluster.end(self.cluster.job_manager)
        self.cluster.start_job_manager()


# Faults of the network as KIND:WHERE:LENGTH. WHERE is a host ("jobmanager", or any "taskmanager"),
# or "pair" for two task managers that lose only each other.
NETWORK_FAULTS = [
    "cut:taskmanager:long", "cut:jobmanager:long", "cut:pair:long",
    "cut in:taskmanager:long", "cut out:taskmanager:long", "cut in:jobmanager:long",
    "cut out:jobmanager:long", "cut in:pair:long", "down:taskmanager:long", "down:jobmanager:long",
    "delay:taskmanager:long", "loss:taskmanager:long", "delay:jobmanager:long",
    "loss:jobmanager:long", "cut:taskmanager:short", "cut:jobmanager:short", "cut:pair:short",
    "cut out:taskmanager:short", "down:taskmanager:short",
]
# That leave a task manager without the job manager or another task manager for long enough.
NOTICED = ("cut", "cut in", "cut out", "down")


class NetworkDisturber(Disturber):
    """Cuts, slows down and thins out what goes between hosts, and heals it."""

    forbids_restart = False

    def __init__(self, cluster, switch, drawn, number, timeout):
        first = NETWORK_FAULTS[number % len(NETWORK_FAULTS)]
        plan = [first] + [drawn.choice(NETWORK_FAULTS) for _ in range(drawn.randint(1, 2))]
        super().__init__(cluster, drawn, plan)
        self.switch = switch
        self.timeout = timeout
        # Without such a fault only a job that the loss of packets happens to hit is restarted. One
        # task manager has no tasks; the job manager and a pair are noticed whichever it is.
        self.wants_restart = any(what.split(":")[0] in NOTICED and what.endswith(":long")
                                 and "jobmanager" in what for what in plan)

    def counts(self):
        return dict(self.switch.counts)

    def _where(self, where):
        """The links of a fault: those into and those out of what is hit, and the host, if any."""
        hosts = self.switch.hosts
        if where == "pair":
            one, other = self.drawn.sample(hosts[1:], 2)
            return [self.switch.link(other, one)], [self.switch.link(one, other)], None
        host = hosts[0] if where == "jobmanager" else self.drawn.choice(hosts[1:])
        others = [other for other in hosts if other is not host]
        return ([self.switch.link(other, host) for other in others],
                [self.switch.link(host, other) for other in others], host)

    def _last(self, length):
        time.sleep(self.drawn.uniform(*(SHORT if length == "short" else LONG)) * self.timeout)

    def _drop(self, links, length):
        for link in links:
            link.is_cut = True
        self._last(length)
        for link in links:
            link.is_cut = False

    def _cut(self, where, length):
        inward, outward, _ = self._where(where)
        self._drop(inward + outward, length)

    def _cut_in(self, where, length):
        self._drop(self._where(where)[0], length)

    def _cut_out(self, where, length):
        self._drop(self._where(where)[1], length)

    def _down(self, where, length):
        host = self._where(where)[2]
        host.set_link("down")
        self._last(length)
        host.set_link("up")

    def _delay(self, where, length):
        inward, outward, _ = self._where(where)
        longest = self.drawn.uniform(0.2, 1) * DELAY_OF_TIMEOUT * self.timeout
        for link in inward + outward:
            link.delay = (longest / 2, longest)
        self._last(length)
        for link in inward + outward:
            link.delay = (0.0, 0.0)

    def _loss(self, where, length):
        inward, outward, _ = self._where(where)
        part = self.drawn.uniform(0.02, 0.3)
        for link in inward + outward:
            link.loss = part
        self._last(length)
        for link in inward + outward:
            link.loss = 0.0


class ResetDisturber(Disturber):
    """Resets connections; the job manager and a task manager have none but for control."""

    def __init__(self, cluster, switch, drawn, of_data):
        super().__init__(cluster, drawn, ["reset:data" if of_data else "reset:control"] * RESETS)
        self.switch = switch
        self.forbids_restart = not of_data
        self.connections = 0

    def counts(self):
        return {**self.switch.counts, "connections": self.connections}

    def _reset(self, what):
        manager, *workers = self.switch.hosts
        if what == "data":
            self.connections += self.switch.reset(*self.drawn.sample(workers, 2))
            return
        # All of them at times, and one right again.
        for worker in self.drawn.sample(workers, self.drawn.randint(1, len(workers))):
            self.connections += self.switch.reset(manager, worker)
        time.sleep(self.drawn.uniform(0, 0.2))
