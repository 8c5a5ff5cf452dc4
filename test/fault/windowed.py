"""What the windowed job reads, what it must make of it, and how its output may differ."""

import collections
import random

SECOND_MS = 1000
KEYS = 10


def make_input(directory, rows, seed):
    """Writes four time-ordered files.

    Returns what the job makes of them, (kind, key, window) → number, and the window from which on
    a file may be the last of its writer: each key has a row in it or later.
    """
    drawn = random.Random(seed)
    expected = collections.Counter()
    last_of_key = {}
    directory.mkdir(parents=True)
    for number in range(4):
        at = 1_000_000
        lines = []
        for _ in range(rows):
            at += drawn.randrange(100)
            key, value = drawn.randrange(KEYS), drawn.randrange(1000)
            start = at - at % SECOND_MS
            expected[(0, key, start)] += value
            expected[(1, key, start)] += 1
            last_of_key[key] = max(last_of_key.get(key, 0), start)
            lines.append(f"{at},{key},{value}\n")
        (directory / f"events-{number}.csv").write_text("".join(lines))
    return expected, min(last_of_key.values())


def read_output(directory, ending):
    """Returns the rows, and how many windows were committed before the end of the input.

    The windows of a key are emitted in order, so a writer's last file has one from `ending` on of
    each of its keys whose last window is not in an earlier file: a file without any such window was
    committed by a checkpoint during the input.
    """
    rows = []
    early = set()
    for path in sorted(directory.glob("part-*")):
        these = [tuple(map(int, line.split(","))) for line in path.read_text().splitlines()]
        rows += these
        if all(row[2] < ending for row in these):
            early |= {row[2] for row in these}
    return rows, len(early)


def difference(rows, expected, at_least_once):
    """Says in words how the rows differ from what they should be; empty: they do not."""
    if at_least_once:
        found = collections.defaultdict(int)
        for kind, key, start, number in rows:
            found[(kind, key, start)] = max(found[(kind, key, start)], number)
        lost = [where for where, number in expected.items() if found[where] < number]
        made_up = set(found) - set(expected)
        if lost:
            return f"{len(lost)} results lost, e.g. {lost[:3]}"
        return f"{len(made_up)} results of no input, e.g. {list(made_up)[:3]}" if made_up else ""
    want = collections.Counter((*where, number) for where, number in expected.items())
    have = collections.Counter(rows)
    missing, extra = want - have, have - want
    if not missing and not extra:
        return ""
    return (f"{sum(missing.values())} rows missing, e.g. {list(missing)[:3]}; "
            f"{sum(extra.values())} rows too many, e.g. {list(extra)[:3]}")
