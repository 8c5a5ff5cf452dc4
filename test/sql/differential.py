#!/usr/bin/env python3
"""Asks random questions over random tables of Headrace and of sqlite3, and compares the rows.

    differential.py HEADRACE [--queries N] [--seed S] [--parallelism P] [--checkpoints]
                    [--mini-batch ROWS] [--two-phase] [--split] [--rocksdb] [--batch] [--all-ways]
                    [--kills HEADRACE_SIM] [--keep DIRECTORY]

With --checkpoints state lies in RocksDB, and unaligned checkpoints are taken all the time. --mini-batch
gathers so many rows, --two-phase sums up before the exchange, --split computes DISTINCT by value first,
--batch gives final rows alone; with --all-ways each query is asked plainly, and with several of these
together. --kills asks build/test/simulation/headrace-sim instead: a simulated cluster of which processes
and connections are killed while it answers, and which goes on from savepoints at another parallelism. The
seed is printed, so
that a failure can be repeated; a failing query is printed with its tables. To have more kinds of queries
asked, add a function to QUERIES: it is given the dice and gives SQL that means the same to both (texts,
integers and comparisons do; averages, divisions and empty sums do not), or a pair of SQL for each.

Windows stand in sqlite3 as the arithmetic that Flink documents: a row is in [start, start + size) of
start = ts - ts % size; of HOP in size / slide windows that begin a slide apart, of CUMULATE in those
from its start that end behind it. No row is late: the watermark lags an hour. OVER orders by a time that
no two rows have alike.
"""

import argparse
import collections
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

from run_tests import MARK, parse_rows

PATIENCE_S = 300
KILLED_RATE = 20  # rows a second of virtual time: some checkpoints while a table is read
# Few different values, so that keys meet, repeat and are NULL.
TABLES = {
    "t0": [("a", "INT"), ("b", "INT"), ("s", "STRING")],
    "t1": [("a", "INT"), ("c", "BIGINT"), ("s", "STRING")],
    "t2": [("b", "INT"), ("c", "BIGINT")],
    "t3": [("a", "INT"), ("b", "INT"), ("c", "BIGINT"), ("s", "STRING")],
}
# With event time: seconds in sqlite3, each at most once.
TIMED = {"w0": [("ts", "TIMESTAMP(3)"), ("k", "INT"), ("v", "INT")]}
TEXTS = ["x", "y", "zz", "a longer text than fits into a slot"]


def random_value(dice, kind):
    if dice.random() < 0.15:
        return None
    return dice.choice(TEXTS) if kind == "STRING" else dice.randrange(6)


def random_rows(dice, columns):
    count = dice.choice([0, 1, 5, 12, 25])
    return [[random_value(dice, kind) for _, kind in columns] for _ in range(count)]


def timed_rows(dice, columns):
    times = dice.sample(range(600), dice.choice([0, 1, 8, 25]))
    return [[at] + [random_value(dice, kind) for _, kind in columns[1:]] for at in times]


class Source:
    """A table, or a query, by the name that it has in FROM: columns are (name, is a number)."""

    def __init__(self, text, name, columns):
        self.text, self.name, self.columns = text, name, columns

    def column(self, dice, is_number=None):
        fitting = [c for c, number in self.columns if is_number is None or number == is_number]
        return f"{self.name}.{dice.choice(fitting)}" if fitting else None


def table(dice, name):
    of = dice.choice(sorted(TABLES))
    return Source(f"{of} {name}", name, [(c, kind != "STRING") for c, kind in TABLES[of]])


def grouped(dice, name):
    """Groups, whose rows are updated as long as their input comes."""
    inner = table(dice, "g")
    key = inner.column(dice)
    number = inner.column(dice, True)
    what = dice.choice(["COUNT(*)", f"SUM({number})", f"MIN({number})", f"MAX({number})"])
    is_number = dict(inner.columns)[key.split(".")[1]]
    text = f"(SELECT {key} AS k, {what} AS n FROM {inner.text} GROUP BY {key}) {name}"
    return Source(text, name, [("k", is_number), ("n", True)])


def source(dice, name):
    return grouped(dice, name) if dice.random() < 0.3 else table(dice, name)


def comparison(dice, one, other, signs):
    """Of a column of each, of the same kind; nothing when they have none."""
    for _ in range(5):
        is_number = dice.random() < 0.8
        left, right = one.column(dice, is_number), other.column(dice, is_number)
        if left and right:
            return f"{left} {dice.choice(signs)} {right}"
    return None


def condition(dice, one, other):
    parts = []
    for _ in range(dice.choice([1, 1, 1, 2])):
        part = comparison(dice, one, other, ["=", "=", "=", "=", "IS NOT DISTINCT FROM", "<", "<>"])
        if part:
            parts.append(part)
    if dice.random() < 0.4:
        side = dice.choice([one, other])
        number = side.column(dice, True)
        if number:
            parts.append(f"{number} {dice.choice(['<', '>', '=', '<='])} {dice.randrange(5)}")
    return " AND ".join(parts) or "1 = 1"


def filters(dice, sources):
    parts = []
    for _ in range(dice.choice([0, 0, 1, 2])):
        column = dice.choice(sources).column(dice)
        numbers = [s.column(dice, True) for s in sources if s.column(dice, True)]
        parts.append(
            dice.choice(
                [
                    f"{column} IS NULL",
                    f"{column} IS NOT NULL",
                    f"{dice.choice(numbers)} {dice.choice(['<', '>=', '='])} {dice.randrange(5)}",
                    f"({dice.choice(numbers)} > 2 OR {column} IS NULL)",
                ]
            )
        )
    return parts


def where(parts):
    return " WHERE " + " AND ".join(parts) if parts else ""


def joined(dice):
    """FROM with two or three sources, and the sources."""
    sources = [source(dice, "p"), source(dice, "q")]
    word = lambda: dice.choice(["JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
    text = f"{sources[0].text} {word()} {sources[1].text} ON {condition(dice, *sources)}"
    if dice.random() < 0.3:
        third = table(dice, "r")
        text += f" {word()} {third.text} ON {condition(dice, dice.choice(sources), third)}"
        sources.append(third)
    return text, sources


def join_query(dice):
    text, sources = joined(dice)
    items = ", ".join(f"{s.name}.{c} AS {s.name}_{c}" for s in sources for c, _ in s.columns)
    return f"SELECT {items} FROM {text}{where(filters(dice, sources))}"


def comma_query(dice):
    sources = [source(dice, "p"), source(dice, "q")]
    parts = [condition(dice, *sources)] + filters(dice, sources)
    items = ", ".join(f"{s.name}.{c} AS {s.name}_{c}" for s in sources for c, _ in s.columns)
    return f"SELECT {items} FROM {sources[0].text}, {sources[1].text}{where(parts)}"


def grouped_join_query(dice):
    text, sources = joined(dice)
    key = dice.choice(sources).column(dice)
    number = next(s for s in sources if s.column(dice, True)).column(dice, True)
    what = dice.choice(["COUNT(*)", f"COUNT({number})", f"SUM({number})", f"MAX({number})"])
    return f"SELECT {key} AS k, {what} AS n FROM {text}{where(filters(dice, sources))} GROUP BY {key}"


def sub_query(dice):
    outer, inner = source(dice, "p"), source(dice, "q")
    is_number = dice.random() < 0.8
    column, item = outer.column(dice, is_number), inner.column(dice, is_number)
    if not column or not item:
        column, item = outer.column(dice, True), inner.column(dice, True)
    tie = comparison(dice, inner, outer, ["=", "=", "=", "<", "<>"]) if dice.random() < 0.6 else None
    parts = filters(dice, [inner]) + ([tie] if tie else [])
    asked = dice.choice(["IN", "NOT IN", "EXISTS", "NOT EXISTS"])
    rows = f"SELECT {item} FROM {inner.text}{where(parts)}"
    test = f"{asked} ({rows})" if "EXISTS" in asked else f"{column} {asked} ({rows})"
    items = ", ".join(f"p.{c} AS {c}" for c, _ in outer.columns)
    return f"SELECT {items} FROM {outer.text}{where(filters(dice, [outer]) + [test])}"


def query_test(dice, outer, name):
    """What a query's rows say of each row of `outer`: TRUE, FALSE or NULL."""
    inner = source(dice, name)
    is_number = dice.random() < 0.8
    column, item = outer.column(dice, is_number), inner.column(dice, is_number)
    if not column or not item:
        column, item = outer.column(dice, True), inner.column(dice, True)
    tie = comparison(dice, inner, outer, ["="]) if dice.random() < 0.5 else None
    rows = f"SELECT {item} FROM {inner.text}{where(filters(dice, [inner]) + ([tie] if tie else []))}"
    asked = dice.choice(["IN", "IN", "NOT IN", "NOT IN", "EXISTS", "NOT EXISTS"])
    return f"{asked} ({rows})" if "EXISTS" in asked else f"{column} {asked} ({rows})"


def tested_query(dice):
    outer = table(dice, "p")
    test = query_test(dice, outer, "q")
    items = ", ".join(f"p.{c} AS {c}" for c, _ in outer.columns)
    other = f"{outer.column(dice, True)} {dice.choice(['<', '=', '>'])} {dice.randrange(5)}"
    if dice.random() < 0.3:
        other = query_test(dice, outer, "r")
    form = dice.randrange(4)
    if form == 0:
        return f"SELECT {items}, CAST({test} AS INT) AS v FROM {outer.text}{where(filters(dice, [outer]))}"
    if form == 1:
        return f"SELECT {items}, CASE WHEN {test} THEN 1 WHEN {other} THEN 2 END AS v FROM {outer.text}"
    if form == 2:
        return f"SELECT {items} FROM {outer.text} WHERE {other} OR {test}"
    return f"SELECT {items} FROM {outer.text} WHERE NOT ({other} OR {test})"


def value_query(dice):
    outer, inner = table(dice, "p"), source(dice, "q")
    number = inner.column(dice, True)
    what = dice.choice(["COUNT(*)", f"COUNT({number})", f"MAX({number})", f"MIN({number})"])
    tie = comparison(dice, inner, outer, ["="]) if dice.random() < 0.7 else None
    rows = f"SELECT {what} FROM {inner.text}{where(filters(dice, [inner]) + ([tie] if tie else []))}"
    items = ", ".join(f"p.{c} AS {c}" for c, _ in outer.columns)
    if dice.random() < 0.5:
        return f"SELECT {items}, ({rows}) AS v FROM {outer.text}"
    return f"SELECT {items} FROM {outer.text} WHERE {outer.column(dice, True)} = ({rows})"


def set_query(dice):
    def side(name):
        of = source(dice, name)
        count = 1 if words.startswith("EX") else 2
        return f"SELECT {', '.join(of.column(dice, True) + ' AS ' + n for n in 'vw'[:count])} FROM {of.text}{where(filters(dice, [of]))}"

    words = dice.choice(["UNION ALL", "UNION", "INTERSECT", "EXCEPT", "EXCEPT"])
    return f"{side('p')} {words} {side('q')}"


def distinct_query(dice):
    text, sources = joined(dice)
    items = ", ".join(f"{dice.choice(sources).column(dice)} AS d{i}" for i in range(dice.choice([1, 2, 3])))
    return f"SELECT DISTINCT {items} FROM {text}{where(filters(dice, sources))}"


def having_query(dice):
    of = source(dice, "p")
    key, number = of.column(dice), of.column(dice, True)
    what = dice.choice(["COUNT(*)", f"COUNT(DISTINCT {number})", f"SUM({number})", f"MIN({number})"])
    return (
        f"SELECT {key} AS k, {what} AS n FROM {of.text}{where(filters(dice, [of]))} GROUP BY {key} "
        f"HAVING {what} {dice.choice(['>', '<=', '='])} {dice.randrange(5)}"
    )


def order_of(dice, of):
    """By all columns, so that rows with equal places are equal."""
    columns = [f"{of.name}.{c}" for c, _ in of.columns]
    dice.shuffle(columns)
    return ", ".join(c + dice.choice(["", " DESC"]) for c in columns)


def top_query(dice):
    of = source(dice, "p")
    items = ", ".join(f"p.{c} AS {c}" for c, _ in of.columns)
    rows = f"FROM {of.text}{where(filters(dice, [of]))}"
    if dice.random() < 0.3:
        return f"SELECT * FROM (SELECT {items} {rows} ORDER BY {order_of(dice, of)} LIMIT {dice.choice([1, 3, 10])}) t"
    names = ", ".join(c for c, _ in of.columns)
    shown = dice.choice([names, names + ", place"])
    place = f"ROW_NUMBER() OVER (PARTITION BY {of.column(dice)} ORDER BY {order_of(dice, of)}) AS place"
    return f"SELECT {shown} FROM (SELECT {items}, {place} {rows}) t WHERE place <= {dice.choice([1, 2, 5])}"


SECONDS = "TIMESTAMPDIFF(SECOND, TIMESTAMP '1970-01-01 00:00:00', {})"


def series(count):
    """Rows 0, 1, … as `i`, for sqlite3."""
    return "(" + " UNION ALL ".join(f"SELECT {i}{' AS i' if i == 0 else ''}" for i in range(count)) + ")"


def windowed(dice):
    """FROM with windows for Headrace; rows with their start as `ws`, their end as `we` for sqlite3."""
    kind = dice.choice(["TUMBLE", "HOP", "CUMULATE"])
    slide = dice.choice([7, 30, 60])
    count = 1 if kind == "TUMBLE" else dice.choice([2, 3, 5])
    size = slide * count
    sizes = ", ".join(f"INTERVAL '{n}' SECOND" for n in ([slide] if kind != "TUMBLE" else []) + [size])
    ours = f"TABLE({kind}(TABLE w0, DESCRIPTOR(ts), {sizes}))"
    if kind == "CUMULATE":
        start = f"ts - ts % {size}"
        rows = f"SELECT *, {start} AS ws, {start} + (i + 1) * {slide} AS we FROM w0, {series(count)}"
        return ours, f"(SELECT * FROM ({rows}) WHERE we > ts)"
    start = f"ts - ts % {slide} - i * {slide}"
    return ours, f"(SELECT *, {start} AS ws, {start} + {size} AS we FROM w0, {series(count)})"


def window_results(dice, keys):
    """Aggregates by window and `keys`: items and GROUP BY, alike for both but for the bounds."""
    what = dice.sample(["COUNT(*)", "SUM(v)", "MIN(v)", "MAX(v)", "COUNT(v)", "COUNT(DISTINCT v)"], 2)
    items = "".join(f", {k}" for k in keys) + f", {what[0]} AS x, {what[1]} AS y"
    return items, "".join(f", {k}" for k in keys)


def window_query(dice):
    ours, theirs = windowed(dice)
    items, keys = window_results(dice, dice.choice([[], ["k"]]))
    parts = where(dice.choice([[], ["v > 1"], ["k IS NOT NULL"]]))
    bounds = f"{SECONDS.format('window_start')} AS s, {SECONDS.format('window_end')} AS e"
    return (
        f"SELECT {bounds}{items} FROM {ours}{parts} GROUP BY window_start, window_end{keys}",
        f"SELECT ws AS s, we AS e{items} FROM {theirs}{parts} GROUP BY ws, we{keys}",
    )


def window_top_query(dice):
    ours, theirs = windowed(dice)
    most = dice.choice([1, 2, 4])
    keys = dice.choice(["", ", k"])
    order = "ORDER BY " + ", ".join(f"{c}{dice.choice(['', ' DESC'])}" for c in ["v", "ts"])
    place = lambda bounds: f"ROW_NUMBER() OVER (PARTITION BY {bounds}{keys} {order}) AS place"
    return (
        f"SELECT {SECONDS.format('window_end')} AS e, {SECONDS.format('ts')} AS moment, k, v, place FROM "
        f"(SELECT *, {place('window_start, window_end')} FROM {ours}) t WHERE place <= {most}",
        f"SELECT we AS e, ts AS moment, k, v, place FROM (SELECT *, {place('ws, we')} FROM {theirs}) t "
        f"WHERE place <= {most}",
    )


def over_query(dice):
    what = dice.choice(["COUNT(*)", "SUM(v)", "MIN(v)", "MAX(v)", "COUNT(v)", "LISTAGG(CAST(v AS STRING), '-')"])
    same = what.replace("LISTAGG(CAST(v AS STRING), ", "GROUP_CONCAT(v, ")
    frame = dice.choice(["", "ROWS {}", "RANGE {}", "ROWS UNBOUNDED"])
    count = dice.choice([0, 1, 3, 40])
    ours, theirs = frame.format(f"BETWEEN INTERVAL '{count}' SECOND"), frame.format(f"BETWEEN {count}")
    if frame == "ROWS {}":
        ours = theirs
    if "UNBOUNDED" in frame:
        ours = theirs = "ROWS BETWEEN UNBOUNDED"
    end = " PRECEDING AND CURRENT ROW" if frame else ""
    keys = dice.choice(["", "PARTITION BY k "])
    over = lambda call, text: f"{call} OVER ({keys}ORDER BY ts {text}{end}) AS x"
    return (
        f"SELECT {SECONDS.format('ts')} AS moment, k, v, {over(what, ours)} FROM w0",
        f"SELECT ts AS moment, k, v, {over(same, theirs)} FROM w0",
    )


QUERIES = [
    window_query,
    window_query,
    window_top_query,
    over_query,
    join_query,
    join_query,
    comma_query,
    grouped_join_query,
    sub_query,
    sub_query,
    tested_query,
    tested_query,
    value_query,
    set_query,
    distinct_query,
    having_query,
    top_query,
    top_query,
]


def csv_line(row):
    return ",".join("" if value is None else str(value) for value in row)


def shown_row(name, row):
    if name not in TIMED:
        return row
    return [f"1970-01-01 00:{row[0] // 60:02}:{row[0] % 60:02}"] + row[1:]


def comparable(rows):
    return sorted(rows, key=lambda row: [(x is not None, x or "") for x in row])


def columns_of(name):
    return TABLES[name] if name in TABLES else TIMED[name]


def ask_sqlite(tables, queries):
    """An answer each; None where sqlite3 cannot tell."""
    database = sqlite3.connect(":memory:")
    for name, rows in tables.items():
        columns = ", ".join(c for c, _ in columns_of(name))
        database.execute(f"CREATE TABLE {name} ({columns})")
        marks = ", ".join("?" for _ in columns_of(name))
        database.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)
    return [
        [[None if x is None else str(x) for x in row] for row in database.execute(query)]
        for query in queries
    ]


def gathering(rows):
    return [
        "table.exec.mini-batch.enabled=true",
        "table.exec.mini-batch.allow-latency=1h",
        f"table.exec.mini-batch.size={rows}",
    ]


ROCKSDB = ["state.backend.type=rocksdb"]
TWO_PHASE = ["table.optimizer.agg-phase-strategy=TWO_PHASE"]
BATCH = ["execution.runtime-mode=batch"]
SPLIT = ["table.optimizer.distinct-agg.split.enabled=true", "table.optimizer.distinct-agg.split.bucket-num=7"]


def checkpointing(directory):
    return ROCKSDB + [
        "execution.checkpointing.interval=10ms",
        "execution.checkpointing.unaligned.enabled=true",
        f"execution.checkpointing.dir={directory}/checkpoints",
    ]


def ways(arguments, dice):
    """The settings that each query is asked with."""
    asked = []
    if arguments.rocksdb:
        asked += ROCKSDB
    if arguments.two_phase:
        asked += TWO_PHASE
    if arguments.split:
        asked += SPLIT
    if arguments.batch:
        asked += BATCH
    if arguments.mini_batch:
        asked += gathering(arguments.mini_batch)
    if not arguments.all_ways:
        return [asked]
    few = gathering(dice.choice([1, 2, 3, 5]))
    return [[], few, TWO_PHASE, few + ROCKSDB + SPLIT, gathering(1000) + TWO_PHASE, BATCH, BATCH + ROCKSDB]


def write(directory, name, text):
    path = os.path.join(directory, name)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    return path


def make_tables(tables, directory, seen_as, options=""):
    """Writes their files. @returns the statements that make them"""
    script = ""
    for name, rows in tables.items():
        write(directory, name + ".csv", "".join(csv_line(shown_row(name, row)) + "\n" for row in rows))
        columns = ", ".join(f"{c} {kind}" for c, kind in columns_of(name))
        if name in TIMED:
            columns += ", WATERMARK FOR ts AS ts - INTERVAL '1' HOUR"
        script += (
            f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'filesystem', "
            f"'path' = '{seen_as}/{name}.csv', 'format' = 'csv', 'csv.null-literal' = ''{options});\n"
        )
    return script


def shown_value(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None else str(value)


def rows_left(changes):
    """The rows that a changelog leads to, in any order of its lines."""
    counts = collections.Counter()
    for line in changes:
        change = json.loads(line)
        row = tuple(shown_value(value) for value in change["data"].values())
        counts[row] += 1 if change["op"] in ("+I", "+U") else -1
    if any(count < 0 for count in counts.values()):
        return [["a row was taken back that is not there", line] for line in changes]
    return [list(row) for row in counts.elements()]


def ask_disturbed(program, tables, queries, way, directory, seed, told):
    """Answers of a cluster that is disturbed. Adds to `told` what was done to it."""
    os.mkdir(os.path.join(directory, "input"))
    settings = [each.split("=", 1) for each in way]
    script = "".join(f"SET '{key}' = '{value}';\n" for key, value in settings)
    script += make_tables(
        tables, os.path.join(directory, "input"), "/input", f", 'rows-per-second' = '{KILLED_RATE}'"
    )
    write(directory, "tables.sql", script)
    write(directory, "queries.sql", "".join(each + "\n" for each in queries))
    ended = subprocess.run(
        [program, "--sql", directory, "--first", str(seed)], capture_output=True, text=True, timeout=PATIENCE_S
    )
    if ended.returncode != 0:
        sys.exit(f"{program} ended with {ended.returncode}:\n{ended.stdout[-4000:]}{ended.stderr}\n{script}")
    answers = []
    for line in ended.stdout.splitlines():
        if line.startswith("==== "):
            answers.append([])
            words = line.split()
            told["restarts from a checkpoint"] += int(words[2])
            told["moves by a savepoint"] += int(words[4])
            told["restarts of the job manager"] += int(words[7]) - 1
        else:
            answers[-1].append(line)
    return [rows_left(answer) for answer in answers]


def ask_headrace(headrace, tables, queries, arguments, way, directory):
    script = make_tables(tables, directory, directory)
    for query in queries:
        script += f"SHOW CURRENT DATABASE;\n{query};\n"
    path = write(directory, "script.sql", script)
    command = [headrace, "run", path, "-q", "--format", "csv", "-p", str(arguments.parallelism)]
    for each in way + (checkpointing(directory) if arguments.checkpoints else []):
        command += ["-D", each]
    ended = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    if ended.returncode != 0:
        sys.exit(f"headrace ended with {ended.returncode}:\n{ended.stderr}\n{script}")
    return [parse_rows(answer.split("\n")[1:-1]) for answer in ended.stdout.split(MARK)[1:]]


def compare(tables, queries, got, wanted, way):
    """Tells where the rows are others. @returns how often"""
    failures = 0
    for query, one, other in zip(queries, got, wanted):
        if comparable(one) == comparable(other):
            continue
        failures += 1
        print(f"\n{query}\n  with {way}\n  headrace: {comparable(one)}\n  sqlite3:  {comparable(other)}")
        for name, rows in tables.items():
            if name in query:
                print(f"  {name}: {rows}")
    return failures


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("headrace")
    arguments.add_argument("--queries", type=int, default=40)
    arguments.add_argument("--seed", type=int, default=int(time.time()))
    arguments.add_argument("--parallelism", type=int, default=2)
    arguments.add_argument("--checkpoints", action="store_true")
    arguments.add_argument("--mini-batch", type=int, default=0)
    for each in ["--two-phase", "--split", "--rocksdb", "--batch", "--all-ways"]:
        arguments.add_argument(each, action="store_true")
    arguments.add_argument("--keep", metavar="DIRECTORY", help="for tables and queries of wrong answers")
    arguments.add_argument("--kills", metavar="HEADRACE_SIM", help="the program that is asked")
    arguments = arguments.parse_args()
    print(f"seed {arguments.seed}")
    told = collections.Counter()
    dice = random.Random(arguments.seed)
    failures, asked = 0, 0
    while asked < arguments.queries:
        tables = {name: random_rows(dice, columns) for name, columns in TABLES.items()}
        tables.update({name: timed_rows(dice, columns) for name, columns in TIMED.items()})
        queries = [dice.choice(QUERIES)(dice) for _ in range(min(20, arguments.queries - asked))]
        asked += len(queries)
        pairs = [each if isinstance(each, tuple) else (each, each) for each in queries]
        queries = [ours for ours, _ in pairs]
        wanted = ask_sqlite(tables, [theirs for _, theirs in pairs])
        for way in ways(arguments, dice):
            with tempfile.TemporaryDirectory() as directory:
                if arguments.kills:
                    seed = dice.randrange(1 << 40)
                    got = ask_disturbed(arguments.kills, tables, queries, way, directory, seed, told)
                    way = way + [f"headrace-sim's seed {seed}"]
                else:
                    got = ask_headrace(arguments.headrace, tables, queries, arguments, way, directory)
                if len(got) != len(queries):
                    sys.exit(f"{len(queries)} queries, {len(got)} answers")
                wrong = compare(tables, queries, got, wanted, way)
                failures += wrong
                if wrong and arguments.keep:
                    shutil.copytree(directory, os.path.join(arguments.keep, f"seed-{arguments.seed}-{asked}"))
    for what, count in sorted(told.items()):
        print(f"{count} {what}")
    if arguments.kills and not told["restarts from a checkpoint"]:
        sys.exit("nothing was restarted from a checkpoint")
    print(f"{asked} queries, {failures} with other rows")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
