"""Hosts that are network namespaces, joined by a switch that this process plays.

    namespace "jobmanager"      namespace "taskmanager-1"     …
      lo, eth0 10.77.0.1          lo, eth0 10.77.0.2
            │ tap                       │ tap
            └────────── Switch ─────────┘      drops, delays, resets

The switch carries each Ethernet frame by hand, so it can cut, delay, lose and reset what goes from
one host to another on any kernel that has tap devices: no packet filter and no netem is needed.
Namespaces have no names: they end with this process, however it ends, and leave nothing behind.
"""

import ctypes
import fcntl
import heapq
import os
import random
import select
import struct
import subprocess
import threading
import time

CLONE_NEWNET = 0x40000000
TUNSETIFF = 0x400454CA
IFF_TAP, IFF_NO_PI = 0x0002, 0x1000
FRAME_BYTES_MAX = 65536
FRAMES_A_TURN = 64
MTU = 9000
FIN, SYN, RST, ACK = 0x01, 0x02, 0x04, 0x10

CONFIGURATION = """\
link set lo up
link set eth0 address {mac} mtu {mtu}
address add {address}/24 dev eth0
link set eth0 up
"""


class Unavailable(Exception):
    """This machine does not let the test make network namespaces; the words say why."""


class Host:
    """A network namespace with one device, whose frames the switch carries."""

    settings = {"security.shared-secret": "of the fault test"}

    def __init__(self, name, number):
        self.name = name
        self.address = f"10.77.0.{number}"
        self.mac = bytes([2, 0, 0, 0, 0, number])
        self.tap = -1
        self.namespace = -1
        failure = []
        # The namespace of a thread of its own: this process stays where it is.
        maker = threading.Thread(target=self._make, args=(failure,))
        maker.start()
        maker.join()
        if failure:
            self.close()
            raise Unavailable(str(failure[0]))

    def _make(self, failure):
        try:
            libc = ctypes.CDLL(None, use_errno=True)
            if libc.unshare(CLONE_NEWNET) != 0:
                number = ctypes.get_errno()
                raise OSError(number, "cannot make a network namespace: " + os.strerror(number))
            self.namespace = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
            self.tap = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
            fcntl.ioctl(self.tap, TUNSETIFF, struct.pack("16sH22x", b"eth0", IFF_TAP | IFF_NO_PI))
            words = CONFIGURATION.format(
                mac=":".join(f"{one:02x}" for one in self.mac), mtu=MTU, address=self.address)
            subprocess.run(["ip", "-batch", "-"], input=words, text=True, check=True,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        except subprocess.CalledProcessError as cause:
            failure.append(f"cannot configure a network namespace: {cause.stdout.strip()}")
        except OSError as cause:
            failure.append(cause)

    def words(self, *command):
        """The words that run a command on this host."""
        return ["nsenter", f"--net=/proc/{os.getpid()}/fd/{self.namespace}", *command]

    def set_link(self, state):
        """Takes the device up or down; the host itself sees that."""
        subprocess.run(self.words("ip", "link", "set", "eth0", state), check=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for one in (self.tap, self.namespace):
            if one >= 0:
                os.close(one)
        self.tap = self.namespace = -1


class Link:
    """What happens to frames from one host to another."""

    def __init__(self):
        self.is_cut = False
        self.loss = 0.0  # part of the frames
        self.delay = (0.0, 0.0)  # seconds, at least and at most; other frames may overtake


def flow_of(frame):
    """Of a TCP segment: (addresses and ports, sequence number, acknowledged number, flags)."""
    if frame[12:14] != b"\x08\x00" or frame[23] != 6:
        return None
    at = 14 + (frame[14] & 0x0F) * 4
    if len(frame) < at + 20:
        return None
    sequence, acknowledged = struct.unpack_from("!II", frame, at + 4)
    return frame[26:34] + frame[at:at + 4], sequence, acknowledged, frame[at + 13]


def reversed_flow(flow):
    return flow[4:8] + flow[0:4] + flow[10:12] + flow[8:10]


def checksum(data):
    """The internet checksum (RFC 1071) of an even number of bytes."""
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def make_reset(flow, sequence, to_mac, from_mac):
    """A frame with a TCP reset along `flow`, which its receiver takes when it waits for `sequence`."""
    tcp = flow[8:12] + struct.pack("!IIBBHHH", sequence, 0, 5 << 4, RST, 0, 0, 0)
    pseudo = flow[0:8] + struct.pack("!BBH", 0, 6, len(tcp))
    tcp = tcp[:16] + struct.pack("!H", checksum(pseudo + tcp)) + tcp[18:]
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0, 64, 6, 0) + flow[0:8]
    ip = ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:]
    return to_mac + from_mac + b"\x08\x00" + ip + tcp


class Switch:
    """Carries frames between hosts in a thread of its own; the links are set from any."""

    def __init__(self, hosts, seed):
        self.hosts = hosts
        self.links = {(a.mac, b.mac): Link() for a in hosts for b in hosts if a is not b}
        self.counts = {"carried": 0, "cut": 0, "lost": 0, "delayed": 0, "reset": 0}
        self._drawn = random.Random(seed)
        self._by_mac = {host.mac: host for host in hosts}
        self._by_tap = {host.tap: host for host in hosts}
        self._later = []  # heap of (when, number, host, frame)
        self._number = 0
        self._flows = {}  # (a mac, b mac), the smaller first: open connections
        self._dying = set()  # flows that are to be reset, in both directions
        self._guard = threading.Lock()  # of the two
        self._stop_read, self._stop_write = os.pipe()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        os.write(self._stop_write, b"x")
        self._thread.join()
        for one in (self._stop_read, self._stop_write):
            os.close(one)

    # --- faults

    def link(self, sender, receiver):
        return self.links[(sender.mac, receiver.mac)]

    def links_of(self, host, others):
        """The links to and from a host."""
        return [self.link(*pair) for other in others if other is not host
                for pair in ((host, other), (other, host))]

    def reset(self, a, b):
        """Resets all TCP connections between two hosts at both ends. Returns how many there are."""
        with self._guard:
            flows = self._flows.get(tuple(sorted((a.mac, b.mac))), set())
            self._dying |= flows | {reversed_flow(flow) for flow in flows}
            return len(flows)

    # --- the thread

    def _run(self):
        poll = select.poll()
        for one in (*self._by_tap, self._stop_read):
            poll.register(one, select.POLLIN)
        while True:
            wait = None
            if self._later:
                wait = max(0, (self._later[0][0] - time.monotonic()) * 1000)
            for ready, _ in poll.poll(wait):
                if ready == self._stop_read:
                    return
                self._read(self._by_tap[ready])
            while self._later and self._later[0][0] <= time.monotonic():
                _, _, host, frame = heapq.heappop(self._later)
                self._write(host, frame)

    def _read(self, sender):
        for _ in range(FRAMES_A_TURN):
            try:
                frame = os.read(sender.tap, FRAME_BYTES_MAX)
            except OSError:
                return  # nothing more, or the device is down
            if frame[0] & 1:  # to all
                for host in self.hosts:
                    if host is not sender:
                        self._carry(sender, host, frame)
            elif frame[0:6] in self._by_mac:
                self._carry(sender, self._by_mac[frame[0:6]], frame)

    def _carry(self, sender, receiver, frame):
        link = self.link(sender, receiver)
        if link.is_cut:
            self.counts["cut"] += 1
            return
        if link.loss > 0 and self._drawn.random() < link.loss:
            self.counts["lost"] += 1
            return
        segment = flow_of(frame)
        if segment is not None and self._is_reset(sender, receiver, *segment):
            return
        if link.delay[1] > 0:
            self.counts["delayed"] += 1
            self._number += 1
            when = time.monotonic() + self._drawn.uniform(*link.delay)
            heapq.heappush(self._later, (when, self._number, receiver, frame))
            return
        self.counts["carried"] += 1
        self._write(receiver, frame)

    def _is_reset(self, sender, receiver, flow, sequence, acknowledged, flags):
        """Follows connections; a segment of one that is to be reset is answered by resets.

        Its sender waits for what it acknowledges, and its receiver, if it has got all so far, for
        this segment. If it has not, it says so in a segment of its own, and is answered that way.
        """
        pair = tuple(sorted((sender.mac, receiver.mac)))
        with self._guard:
            flows = self._flows.setdefault(pair, set())
            forward, back = flow, reversed_flow(flow)
            if flags & SYN:  # perhaps with the ports of one that was reset
                self._dying -= {forward, back}
                return False
            if forward not in self._dying:
                if flags & (FIN | RST):
                    flows -= {forward, back}
                elif back not in flows:
                    flows.add(forward)
                return False
            flows -= {forward, back}
        if not flags & RST:
            self.counts["reset"] += 1
            self._write(receiver, make_reset(forward, sequence, receiver.mac, sender.mac))
            if flags & ACK:
                self._write(sender, make_reset(back, acknowledged, sender.mac, receiver.mac))
        return True

    @staticmethod
    def _write(host, frame):
        try:
            os.write(host.tap, frame)
        except OSError:
            pass  # its device is down, or its queue is full: the frame is lost
