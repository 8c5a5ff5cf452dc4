#!/usr/bin/env python3
"""Looks into savepoints of SQL jobs: what their operators keep is shown as rows.

The rows of the input are made here, and what each state has to hold of them is worked out here, from
what SQL says of the query, not from what the operators do.
"""

import collections
import decimal
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

HEADRACE = sys.argv[1]
PATIENCE_S = 100
PAUSE_S = 0.05

Order = collections.namedtuple("Order", "id k price note ts")
NOTES = ["mill", None, "water", "wheel"]
# Times of a day rise by 700 ms a row: all windows below are told by them.
ORDERS = [
    Order(i, i % 5, decimal.Decimal(i * 37 % 1000) / 100, NOTES[i % 4], 700 * i) for i in range(300)
]
NAMES = [(k, name) for k in range(1, 7) for name in (f"n{k}", f"m{k}")[: 1 + k % 2]]
DAY = "2024-01-01"
PASSED_MS = ORDERS[-1].ts - 1000  # the watermark behind the newest row
DAY_MS = 1704067200000  # from 1970 on


def clock(ms, separator="T"):
    """A time of the day as ISO 8601 writes it."""
    text = f"{DAY}{separator}{ms // 3600000:02}:{ms // 60000 % 60:02}:{ms // 1000 % 60:02}"
    return text if ms % 1000 == 0 else text + f".{ms % 1000:03}".rstrip("0")


def row(order, without=()):
    """An order as inspect shows its columns."""
    all = {"id": order.id, "k": order.k, "price": f"{order.price:.2f}", "note": order.note, "ts": clock(order.ts)}
    return {name: value for name, value in all.items() if name not in without}


def by_key(orders):
    out = collections.defaultdict(list)
    for order in orders:
        out[order.k].append(order)
    return out


TABLES = """
CREATE TABLE orders (id BIGINT, k INT, price DECIMAL(10, 2), note STRING, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH ('connector' = 'filesystem', 'path' = '{directory}/orders',
  'format' = 'csv', 'source.monitor-interval' = '1 h', 'csv.null-literal' = 'nil');
CREATE TABLE names (k INT, name STRING) WITH ('connector' = 'filesystem',
  'path' = '{directory}/names', 'format' = 'csv', 'source.monitor-interval' = '1 h');
{query};
"""


class RunningQuery:
    """One query in a process with a REST interface. Its sources do not end."""

    def __init__(self, directory, query):
        script = directory + "/job.sql"
        with open(script, "w") as out:
            out.write(query)
        command = [HEADRACE, "run", script, "-p", "1", "-D", "rest.port=0", "-D", "io.tmp.dirs=" + directory]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.told = ""
        for line in self.process.stderr:
            self.told += line
            found = re.match(r"REST interface: (\S+)", line)
            if found:
                self.base = found[1]
                break
        else:
            raise AssertionError("the run has told no REST interface: " + self.told)
        self.job = self.until(self.jobs)[0]["id"]
        self.until(lambda: self.call("GET", f"/jobs/{self.job}")["state"] == "RUNNING")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, method=method)
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return json.load(answer)

    def jobs(self):
        try:
            return self.call("GET", "/jobs")["jobs"]
        except urllib.error.HTTPError as error:
            if error.code != 503:  # no dispatcher leads yet
                raise
            return None

    @staticmethod
    def until(look):
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            found = look()
            if found:
                return found
            time.sleep(PAUSE_S)  # what it waits for needs the processor
        raise AssertionError("it did not come about")

    def savepoint(self, directory):
        taken = self.call("POST", f"/jobs/{self.job}/savepoints", {"target-directory": directory})

        def look():
            told = self.call("GET", f"/jobs/{self.job}/savepoints/{taken['request-id']}")
            return told if told["status"]["id"] == "COMPLETED" else None

        return self.until(look)["operation"]["location"]


class StoredRows(unittest.TestCase):
    maxDiff = 3000

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.directory = os.path.realpath(holder.name)
        os.mkdir(self.directory + "/orders")
        os.mkdir(self.directory + "/names")
        with open(self.directory + "/orders/all.csv", "w") as out:
            for each in ORDERS:
                note = "nil" if each.note is None else each.note
                out.write(f"{each.id},{each.k},{each.price:.2f},{note},{clock(each.ts, ' ')}\n")
        with open(self.directory + "/names/all.csv", "w") as out:
            out.writelines(f"{k},{name}\n" for k, name in NAMES)

    def inspect(self, savepoint, *words):
        ended = subprocess.run(
            [HEADRACE, "savepoint", "inspect", savepoint, *words], capture_output=True, text=True, timeout=PATIENCE_S
        )
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return ended.stdout

    def states(self, savepoint, names):
        return {
            name: [json.loads(line) for line in self.inspect(savepoint, "--state", name, "--limit", "100000").splitlines()]
            for name in names
        }

    def check(self, query, expected, settings="", order=None):
        """Runs a query until its states are the expected ones: then all rows have come."""
        end = time.monotonic() + PATIENCE_S
        text = settings + TABLES.format(directory=self.directory, query=query)
        with RunningQuery(self.directory, text) as job:
            while True:
                found = self.states(job.savepoint(self.directory + "/s"), expected)
                sort = order or (lambda entry: json.dumps(entry, sort_keys=True))
                told = {name: sorted(entries, key=sort) for name, entries in found.items()}
                wanted = {name: sorted(entries, key=sort) for name, entries in expected.items()}
                if told == wanted or time.monotonic() > end:
                    self.assertEqual(told, wanted)
                    return
                time.sleep(PAUSE_S)  # rows come yet

    def test_sides_of_joins_are_rows(self):
        orders = [
            {"key": {"k": k}, "value": [row(each) for each in of]} for k, of in by_key(ORDERS).items()
        ]
        names = collections.defaultdict(list)
        for k, name in NAMES:
            names[k].append({"k": k, "name": name})
        self.check(
            "SELECT o.*, n.name FROM orders AS o JOIN names AS n ON o.k = n.k",
            {
                "left-rows": orders,
                "right-rows": [{"key": {"k": k}, "value": of} for k, of in names.items()],
            },
        )

    def test_sides_of_outer_joins_tell_how_many_rows_match(self):
        matches = collections.Counter(k for k, _ in NAMES)
        orders = [
            {"key": {"k": k}, "value": [{"matches": matches[k], "row": row(each)} for each in of]}
            for k, of in by_key(ORDERS).items()
        ]
        self.check("SELECT o.*, n.name FROM orders AS o LEFT JOIN names AS n ON o.k = n.k", {"left-rows": orders})

    def test_ranks_are_rows_in_their_order(self):
        top = [
            {"key": {"k": k}, "value": [row(each) for each in sorted(of, key=lambda each: (-each.price, each.id))[:3]]}
            for k, of in by_key(ORDERS).items()
        ]
        self.check(
            "SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY price DESC, id) AS n FROM orders)"
            " WHERE n <= 3",
            {"ranks": top},
        )

    def test_ranks_of_rows_that_are_updated_are_shown_with_those_behind_them(self):
        sums = sorted(
            ((sum(each.price for each in of), k) for k, of in by_key(ORDERS).items()), key=lambda each: (-each[0], each[1])
        )
        # All rows are of one partition: the column `$all` says so.
        rows = [{"k": k, "s": f"{total:.2f}", "$all": 0} for total, k in sums]
        query = (
            "SELECT * FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY s DESC, k) AS n FROM"
            " (SELECT k, SUM(price) AS s FROM orders GROUP BY k)) WHERE n <= 2"
        )
        end = time.monotonic() + PATIENCE_S
        with RunningQuery(self.directory, TABLES.format(directory=self.directory, query=query)) as job:
            while True:
                found = self.states(job.savepoint(self.directory + "/s"), ["top", "others-pieces", "others-directory"])
                values = {name: [entry["value"] for entry in entries] for name, entries in found.items()}
                wanted = {"top": [rows[:2]], "others-pieces": [rows[2:]], "others-directory": [[{"piece": 0}]]}
                if values == wanted or time.monotonic() > end:
                    self.assertEqual(values, wanted)
                    break
                time.sleep(PAUSE_S)

    def test_rows_of_over_wait_and_are_carried(self):
        timed = {
            k: [{"time": clock(each.ts), "row": row(each)} for each in of if each.ts <= PASSED_MS]
            for k, of in by_key(ORDERS).items()
        }
        # What waits lies in buckets of 1,024 ms; of each key it is one row.
        waiting = [
            {
                "key": {"k": each.k},
                "namespace": (DAY_MS + each.ts) >> 10,
                "value": [{"time": clock(each.ts), "row": row(each)}],
            }
            for each in ORDERS
            if each.ts > PASSED_MS
        ]
        self.assertEqual(len(waiting), 2)
        self.check(
            "SELECT *, COUNT(*) OVER w AS c, SUM(price) OVER w AS s FROM orders"
            " WINDOW w AS (PARTITION BY k ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)",
            {
                "waiting": waiting,
                "carried": [{"key": {"k": k}, "value": {"count": len(of), "rows": of[-2:]}} for k, of in timed.items()],
            },
        )

    def test_over_without_a_beginning_carries_its_sums(self):
        carried = []
        for k, of in by_key(ORDERS).items():
            of = [each for each in of if each.ts <= PASSED_MS]
            best = max(of, key=lambda each: each.price)
            value = {
                "count": len(of),
                "SUM(BIGINT)": sum(each.id for each in of),
                "COUNT(STRING)": sum(each.note is not None for each in of),
                "rows": [{"time": clock(best.ts), "row": row(best)}],
            }
            carried.append({"key": {"k": k}, "value": value})
        self.check(
            "SELECT *, SUM(id) OVER w AS s, COUNT(note) OVER w AS c, MAX(price) OVER w AS m FROM orders"
            " WINDOW w AS (PARTITION BY k ORDER BY ts)",
            {"carried": carried},
        )

    def test_groups_tell_their_results(self):
        groups = []
        for k, of in by_key(ORDERS).items():
            notes = [each.note for each in of if each.note is not None]
            groups.append(
                {
                    "key": {"k": k},
                    "value": {
                        "rows": len(of),
                        "COUNT(*)": len(of),
                        "COUNT(STRING)": len(notes),
                        "SUM(DECIMAL(10, 2))": f"{sum(each.price for each in of):.2f}",
                        "MIN(BIGINT)": of[0].id,
                        "MAX(TIMESTAMP(3))": clock(of[-1].ts),
                        "COUNT(DISTINCT STRING)": len(set(notes)),
                        "MAX(STRING)": {"state": "6-MAX-STRING"},
                    },
                }
            )
        values = [
            {"key": {"k": k, "$entry": note}, "value": {"COUNT(DISTINCT STRING)": True}}
            for k, of in by_key(ORDERS).items()
            for note in {each.note for each in of if each.note is not None}
        ]
        self.check(
            "SELECT k, COUNT(*) AS a, COUNT(note) AS b, SUM(price) AS c, MIN(id) AS d, MAX(ts) AS e,"
            " COUNT(DISTINCT note) AS f, MAX(note) AS g FROM orders GROUP BY k",
            {"groups": groups, "distinct-5": values},
        )

    def open_windows(self, size_ms):
        """The rows of each key and start of a window that is not over."""
        out = collections.defaultdict(list)
        for each in ORDERS:
            start = each.ts // size_ms * size_ms
            if start + size_ms - 1 > PASSED_MS:
                out[(each.k, start)].append(each)
        self.assertEqual(len(out), 5)
        return out

    def test_windows_tell_their_bounds_and_results(self):
        expected = [
            {
                "key": {"k": k},
                "window": {"start": clock(start), "end": clock(start + 60000)},
                "value": {
                    "COUNT(*)": len(of),
                    "SUM(id)": sum(each.id for each in of),
                    "MAX(price)": f"{max(each.price for each in of):.2f}",
                    "MIN(note)": min(each.note for each in of if each.note is not None),
                },
            }
            for (k, start), of in self.open_windows(60000).items()
        ]
        self.check(
            "SELECT window_start, k, COUNT(*) AS c, SUM(id) AS s, MAX(price) AS m, MIN(note) AS n FROM"
            " TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, k",
            {"windows": expected},
        )

    def test_groups_of_windows_tell_their_bounds_and_results(self):
        expected = []
        for (k, start), of in self.open_windows(300000).items():
            average = sum(each.price for each in of) / len(of)
            average = average.quantize(decimal.Decimal("1.000000"), decimal.ROUND_HALF_UP)
            for minute in range(5):
                end = start + 60000 * (minute + 1)
                if end - 1 <= PASSED_MS:
                    continue
                self.assertTrue(all(each.ts < end for each in of))
                window = {"start": clock(start), "end": clock(end)}
                value = {"COUNT(*)": len(of), "AVG(DECIMAL(10, 2))": str(average)}
                expected.append({"key": {"k": k}, "window": window, "value": value})
        self.check(
            "SELECT window_start, k, COUNT(*) AS c, AVG(price) AS a FROM TABLE(CUMULATE(TABLE orders, DESCRIPTOR(ts),"
            " INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)) GROUP BY window_start, window_end, k",
            {"groups": expected},
        )

    def test_windows_that_are_to_be_ranked_or_put_in_order_tell_their_rows(self):
        open_rows = collections.defaultdict(list)
        for (_, start), of in self.open_windows(60000).items():
            open_rows[start] += of
        for last, state in ((2, "window-ranks"), (200000, "window-rows")):
            expected = []
            for start, of in open_rows.items():
                end = "window_end of TUMBLE of 60000 ms"
                bounds = {"window_start": clock(start), end: clock(start + 60000)}
                # As they come, or the best two.
                of = sorted(of, key=lambda each: (-each.price, each.id))[:2] if last == 2 else sorted(of)
                more = {**bounds, "window_time": clock(start + 59999)}
                value = [{**row(each), **more} for each in of]
                expected.append({"key": bounds, "window": {"end": clock(start + 60000)}, "value": value})
            self.check(
                "SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end"
                " ORDER BY price DESC, id) AS n FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)))"
                f" WHERE n <= {last}",
                {state: expected},
            )

    def test_sessions_tell_their_bounds_and_results(self):
        # All rows of a key are 3.5 s apart: one session each.
        expected = [
            {
                "key": {"k": k},
                "value": [{"start": clock(of[0].ts), "end": clock(of[-1].ts + 10000), "SUM(BIGINT)": sum(each.id for each in of)}],
            }
            for k, of in by_key(ORDERS).items()
        ]
        self.check(
            "SELECT window_start, k, SUM(id) AS s FROM TABLE(SESSION(TABLE orders PARTITION BY k, DESCRIPTOR(ts),"
            " INTERVAL '10' SECOND)) GROUP BY window_start, window_end, k",
            {"sessions": expected},
        )

    def test_matches_that_have_begun_tell_their_rows(self):
        # Of each key a match has begun with its newest row whose note is "mill", at the last "mill".
        begun = []
        for k, of in by_key(ORDERS).items():
            of = [each for each in of if each.ts <= PASSED_MS]
            last = max(i for i, each in enumerate(of) if each.note == "mill")
            if any(each.note == "wheel" for each in of[last + 1 :]):
                continue
            rows = [{"time": clock(each.ts), "row": row(each, ["price"])} for each in of[last:]]
            begun.append((k, rows))
        query = (
            "SELECT * FROM orders MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a, C.id AS c"
            " ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW PATTERN (A B* C) DEFINE A AS A.note = 'mill',"
            " B AS B.note IS NULL OR B.note NOT IN ('mill', 'wheel'), C AS C.note = 'wheel')"
        )
        expected = [
            {
                "key": {"k": k},
                "value": {"rows": rows, "begun": [[{"A": 0}] + [{"B": i} for i in range(1, len(rows))]]},
            }
            for k, rows in begun
        ]
        self.check(query, {"begun": expected})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
