"""What is computed of measurements, without running anything: sizes, spreads, rates, ratios."""

import json
import math
import os
import statistics

# Numbers of events that there are files of; so that queries share them.
LADDER = (10_000, 100_000, 200_000, 500_000, 1_000_000, 2_000_000, 5_000_000, 10_000_000, 20_000_000)


def next_events(tried, target_s, ladder=LADDER, fixed_s=1.0):
    """The events to try next, or None when those tried last are what a run of `target_s` takes.

    `tried` has (events, seconds), the last try last; `fixed_s` is what a job takes whatever its events.
    A run that took between a half and one and a half of the target is taken, and so is an end of the
    ladder. No number is tried twice.
    """
    events, seconds = tried[-1]
    if 0.5 * target_s <= seconds <= 1.5 * target_s:
        return None
    rate = events / max(seconds - fixed_s, 0.1)
    wanted = rate * max(target_s - fixed_s, 0.1)
    # One run says little of ten times as many events: state grows, and code gets compiled.
    wanted = min(wanted, events * 20)
    fitting = [step for step in ladder if step <= wanted * 1.25] or [ladder[0]]
    return None if fitting[-1] in [each for each, _ in tried] else fitting[-1]


def spread(values):
    """Median, least, most, and the distance of these two to the median."""
    middle = statistics.median(values)
    far = (max(values) - min(values)) / middle if middle else 0.0
    return {"median": middle, "least": min(values), "most": max(values), "spread": far, "count": len(values)}


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(math.log(each) for each in values) / len(values)) if values else None


def steady_rate(samples, total, low=0.2, high=0.8, least=4):
    """Events a second in the middle of a run, by the slope of the best line; None of too few samples.

    `samples` has (seconds, events read), `total` the events of the input. Start, warm-up and the last
    rows are outside of the middle.
    """
    kept = [(at, read) for at, read in samples if low * total <= read <= high * total]
    if len(kept) < least:
        return None
    mean_at = sum(at for at, _ in kept) / len(kept)
    mean_read = sum(read for _, read in kept) / len(kept)
    width = sum((at - mean_at) ** 2 for at, _ in kept)
    return sum((at - mean_at) * (read - mean_read) for at, read in kept) / width if width else None


def heap_to_try(tried, sizes, within=0.05):
    """The heap to try next, in MB, or the one that is found: (size, is_found).

    `sizes` rise. From the largest one down, until the rate of a smaller one is more than `within` below
    the best so far, or it fails (rate None); `tried` has the rate of each size tried.
    """
    if not tried:
        return sizes[-1], False
    best = max((rate for rate in tried.values() if rate is not None), default=None)
    if best is None:
        raise ValueError(f"no run came to its end with {sizes[-1]} MB of heap: give larger sizes")
    good = min(size for size, rate in tried.items() if rate is not None and rate >= best * (1 - within))
    smallest = min(tried)
    at = sizes.index(smallest)
    if smallest != good or at == 0:
        return good, True
    return sizes[at - 1], False


class Record:
    """The measurements so far: a file of JSON lines, each with the key of what it measured."""

    def __init__(self, path):
        self.path, self.lines, self.start_of_line = path, [], ""
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                for text in file:
                    self.start_of_line = "" if text.endswith("\n") else "\n"
                    try:
                        self.lines.append(json.loads(text))
                    except json.JSONDecodeError:
                        continue  # broken off within a line

    def find(self, **key):
        return [line for line in self.lines if all(line.get(name) == value for name, value in key.items())]

    def add(self, line):
        self.lines.append(line)
        with open(self.path, "a", encoding="utf-8") as out:
            out.write(self.start_of_line + json.dumps(line) + "\n")
        self.start_of_line = ""
