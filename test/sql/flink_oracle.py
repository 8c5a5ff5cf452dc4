#!/usr/bin/env python3
"""Asks Flink 2.3 what the SQL script tests expect.

    flink_oracle.py check PATH…     tells where Flink says something else than the files
    flink_oracle.py fill PATH…      writes Flink's answers into the files, in the place of theirs

Only files whose source: names Flink are looked at. The distribution is that of the PyPI package
apache-flink-libraries; it is fetched once, into .cache/flink, and needs a Java of at least 11.
Lines of values that Flink refuses are told, and left as they are, or taken out when they had no value
yet; of an error it is checked that Flink refuses, too, in words of its own.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import flink_distribution
import run_tests

NULL = "\\N"


class Flink:
    def __init__(self):
        self.process = subprocess.Popen(
            ["java", "-Xmx1g", "-cp", flink_distribution.class_path(), "FlinkOracle"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit("Flink has ended")
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def reason(answer):
    """The innermost sentence of an error."""
    return answer["error"].split(" <- ")[-1].split("\n")[0][:300]


def quoted(text):
    return '"' + text.replace('"', '""') + '"'


def csv_line(row):
    def field(value):
        if value is None:
            return ""
        needs_quotes = not value or any(c in value for c in ',"\n\r') or value != value.strip()
        return quoted(value) if needs_quotes else value

    return ",".join(map(field, row))


def ddl_of(block, directory):
    """As of run_tests, with a literal for NULL, as Flink takes a quoted "" for one, too."""
    rows = run_tests.parse_rows(block.body)
    block.body = [",".join(NULL if x is None else quoted(x) for x in row) for row in rows]
    return run_tests.ddl_of(block, directory).replace(
        "'csv.null-literal' = ''", f"'csv.null-literal' = '{NULL}'"
    ).rstrip().rstrip(";")


def values_of(flink, block, told):
    """Flink's text behind ==> of each line; None where it refuses."""
    every = [expression for expression, _ in block.checks]
    answer = flink.ask(sql=block.values_query(every))
    if "rows" in answer:
        return run_tests.value_lines(answer["rows"], len(every))
    out = []
    for each in every:
        answer = flink.ask(sql=block.values_query([each]))
        if "rows" in answer:
            out.append(run_tests.value_lines(answer["rows"], 1)[0])
        else:
            told.append(f"{block.place}: {each}: Flink refuses: {reason(answer)}")
            out.append(None)
    return out


def filled_block(flink, block, directory, told):
    """The lines of a block with Flink's answer in them."""
    lines = [block.head] + block.body
    sql = block.sql.replace("${DIR}", os.path.join(directory, "own")).rstrip().rstrip(";")
    if block.kind == "table":
        answer = flink.ask(sql=ddl_of(block, directory))
        block.body = lines[1:]
    elif block.kind == "values":
        got = values_of(flink, block, told)
        for i, (expression, expected) in enumerate(block.checks):
            if got[i] is not None:
                lines[i + 1] = f"{expression} ==> {got[i]}"
            elif not expected:
                lines[i + 1] = None
        return [line for line in lines if line is not None]
    elif block.kind == "errors":
        for sql, _ in block.checks:
            answer = flink.ask(sql=sql)
            if "error" not in answer:
                told.append(f"{block.place}: {sql}: Flink takes it: {answer['rows'][:3]}")
        return lines
    elif block.kind == "changes":
        answer = flink.ask(sql=sql, changes=True)
    else:
        answer = flink.ask(sql=sql)
    if block.kind == "warning":
        return lines
    if block.kind in ("error", "failure"):
        if "error" not in answer:
            told.append(f"{block.place}: Flink takes it: {answer['rows']}")
        return lines
    if "error" in answer:
        told.append(f"{block.place}: Flink refuses: {reason(answer)}")
    elif block.kind == "changes":
        got = [f"{row[0]}[{', '.join('null' if x is None else x for x in row[1:])}]" for row in answer["rows"]]
        if sorted(got) != sorted(block.expected):
            return [block.head, *block.sql.split("\n"), "----", *got]
    elif block.kind == "query":
        got = run_tests.ordered(answer["rows"], block)
        expected = run_tests.ordered(run_tests.parse_rows(block.expected), block)
        if got != expected:
            return [block.head, *block.sql.split("\n"), "----", *map(csv_line, got)]
    return lines


def visit(flink, path, is_filling):
    """Returns what differs, as texts."""
    source, blocks = run_tests.read_blocks(path)
    if "Flink 2.3" not in source:
        return [], 0
    flink.ask(reset=True)
    told, checked = [], 0
    lines = open(path, encoding="utf-8").read().split("\n")
    with tempfile.TemporaryDirectory() as directory:
        for block in reversed_places(flink, blocks, directory, told):
            start, before, after = block
            checked += 1
            if before != after:
                told += [f"{path}:{start}: {old} -> {new}" for old, new in zip(before, after) if old != new]
                if len(before) != len(after):
                    told.append(f"{path}:{start}: other rows: {after}")
                lines[start - 1 : start - 1 + len(before)] = after
    if is_filling:
        with open(path, "w", encoding="utf-8") as out:
            out.write("\n".join(lines))
    return told, checked


def reversed_places(flink, blocks, directory, told):
    """Line, old and new lines of each block, the last one first, so that places stay true."""
    out = []
    for block in blocks:
        start = int(block.place.rsplit(":", 1)[1])
        out.append((start, [block.head] + block.body, filled_block(flink, block, directory, told)))
    return reversed(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=["check", "fill"])
    parser.add_argument("paths", nargs="+")
    given = parser.parse_args()
    flink, told, checked = Flink(), [], 0
    for path in run_tests.files_of(given.paths):
        found, count = visit(flink, path, given.what == "fill")
        told += found
        checked += count
    flink.close()
    print("\n".join(told + [f"{checked} blocks, {len(told)} differences"]))
    return 1 if told and given.what == "check" else 0


if __name__ == "__main__":
    sys.exit(main())
