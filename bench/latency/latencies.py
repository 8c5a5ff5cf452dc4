"""Counts of latencies, as the jobs write them: lines of a lower bound in microseconds and a count."""

from collections import Counter

KEYS = 100
QUANTILES = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999, "p99.99": 0.9999}


def read_counts(paths):
    """The counts of all subtasks together."""
    out = Counter()
    for path in paths:
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                bound, count = map(int, line.split())
                out[bound] += count
    return out


def is_complete(kind, rate, seconds, rows):
    """Whether as many rows were counted as the job gives in so many seconds: nine of ten events, or a
    result a key and window but for those at both ends."""
    if kind == "project":
        return abs(rows - 0.9 * rate * seconds) <= max(1, 0.0001 * rate * seconds)
    return min(KEYS, rate) * (seconds - 1) <= rows <= min(KEYS, rate) * (seconds + 1)


def quantiles(counts):
    """Milliseconds that so large a part of the rows at most took, up to two percent more; and the most."""
    total = sum(counts.values())
    if total == 0:
        return {"rows": 0}
    out, seen, left = {"rows": total}, 0, list(QUANTILES.items())
    for bound in sorted(counts):
        seen += counts[bound]
        while left and seen >= left[0][1] * total:
            out[left.pop(0)[0] + "_ms"] = bound / 1000
    out["max_ms"] = max(counts) / 1000
    return out
