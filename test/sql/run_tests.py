#!/usr/bin/env python3
"""Runs the SQL script tests: files of blocks with a blank line between them.

    source: sqlite3                 where the expected rows come from; a rule in words otherwise
    table NAME (COLUMNS)            a table over a CSV file of the lines that follow; an empty field
                                    is NULL, "" an empty text
    statement                       SQL that is well and shows nothing
    query [ordered] [only]          SQL, then ----, then the rows as CSV, without the line of names.
                                    only: not asked of sqlite3, which has no such thing
    changes                         SQL, then ----, then its changes as `run --format changelog` has
                                    them, in any order
    values [of TABLE]               lines `EXPRESSION ==> VALUE`: of one row, or of the rows of a table
                                    whose first column numbers them, with ` | ` between the values.
                                    NULL is NULL; a text that would be misread is quoted as in JSON
    error                           SQL, then ----, then a part of the message
    errors                          lines `SQL ==> MESSAGE`, a part of what is said of that line
    failure                         as error, of SQL that is well but whose job fails
    warning                         SQL that is well, then ----, then a part of what is said of it

${DIR} in SQL is a directory of the file's own, empty at its start; ${EXAMPLES} that of the examples'
job objects and libraries.

A script that sets parallelism.default is run so; others run with parallelism 2, changes with 1.

Each query, each line of values or errors, and each error counts as a check. Rows are compared in any
order unless the query says ordered. Where the source is sqlite3, its answers
are asked for again and compared, too.
"""

import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

PATIENCE_S = 100
MARK = "current database name\ndefault_database\n"


class Block:
    def __init__(self, path, line, head, body):
        self.place = f"{path}:{line}"
        self.head = head
        self.kind = head.split()[0]
        if "----" in body:
            cut = body.index("----")
            self.sql, self.expected = "\n".join(body[:cut]), body[cut + 1 :]
        else:
            self.sql, self.expected = "\n".join(body), []
        self.body = body
        if self.kind in ("values", "errors"):
            self.checks = [line.partition(" ==> ")[::2] for line in body]

    def values_query(self, expressions):
        """What gives the values: a column an expression, behind the number of the row."""
        named = re.fullmatch(r"values of (\w+)", self.head)
        if not named:
            return "SELECT 0, " + ", ".join(expressions)
        return f"SELECT {named.group(1)}.*, {', '.join(expressions)} FROM {named.group(1)}"


def value_text(value):
    """How a value stands in a line of values."""
    if value is None:
        return "NULL"
    is_plain = value == value.strip() and value and value != "NULL" and not value.startswith('"')
    return value if is_plain and "|" not in value and value.isprintable() else json.dumps(value, ensure_ascii=False)


def value_lines(rows, count):
    """The texts behind ==> of `count` expressions, which are the last columns of the rows."""
    rows = sorted(rows, key=lambda row: int(row[0]))
    return [" | ".join(value_text(row[len(row) - count + i]) for row in rows) for i in range(count)]


def read_blocks(path):
    source, blocks, lines = None, [], open(path, encoding="utf-8").read().split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line.strip() or line.startswith("#"):
            at += 1
        elif line.startswith("source:"):
            source = line[len("source:") :].strip()
            at += 1
        else:
            end = at
            while end < len(lines) and lines[end].strip():
                end += 1
            blocks.append(Block(path, at + 1, line, lines[at + 1 : end]))
            at = end
    if not source:
        sys.exit(f"{path}: no source: named")
    return source, blocks


def names_and_types(columns):
    out = []
    for each in re.split(r",(?![^(<]*[)>])", columns):
        name, kind = each.strip().split(None, 1)
        out.append((name.strip("`"), kind))
    return out


def ddl_of(block, directory):
    name, columns = re.fullmatch(r"table (\w+) \((.*)\)", block.head).groups()
    path = os.path.join(directory, name + ".csv")
    with open(path, "w", encoding="utf-8") as out:
        out.write("".join(line + "\n" for line in block.body))
    return (
        f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'filesystem', 'path' = '{path}', "
        "'format' = 'csv', 'csv.null-literal' = '');\n"
    )


def parse_rows(lines):
    """None is NULL: a field that is empty and not quoted."""
    rows = []
    for line in lines:
        row, rest = [], line
        while True:
            if rest.startswith('"'):
                field = re.match(r'"((?:[^"]|"")*)"', rest)
                row.append(field.group(1).replace('""', '"'))
            else:
                field = re.match(r"[^,]*", rest)
                row.append(field.group(0) or None)
            rest = rest[field.end() :]
            if not rest:
                break
            rest = rest[1:]
        rows.append(row)
    return rows


def run_headrace(headrace, script, directory, form="csv"):
    path = os.path.join(directory, "script.sql")
    with open(path, "w", encoding="utf-8") as out:
        out.write(script)
    says_parallelism = re.search(r"^SET '?parallelism\.default'? =", script, re.MULTILINE)
    parallelism = [] if says_parallelism else ["-p", "1" if form == "changelog" else "2"]
    return subprocess.run(
        [headrace, "run", path, "-q", "--format", form, *parallelism],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        timeout=PATIENCE_S,
    )


def sqlite_value(text, kind):
    if text is None:
        return None
    kind = kind.upper()
    if kind.startswith(("INT", "BIGINT", "SMALLINT", "TINYINT")):
        return int(text)
    if kind.startswith(("DOUBLE", "FLOAT")):
        return float(text)
    if kind.startswith("BOOLEAN"):
        return text.lower() == "true"
    return text


def sqlite_text(value):
    if value is None:
        return None
    if isinstance(value, float):
        return repr(value)
    return str(value)


def ordered(rows, block):
    return rows if "ordered" in block.head else sorted(rows, key=lambda row: [(x is not None, x or "") for x in row])


def check_sqlite(blocks, failures):
    database = sqlite3.connect(":memory:")
    for block in blocks:
        if block.kind == "table":
            name, columns = re.fullmatch(r"table (\w+) \((.*)\)", block.head).groups()
            types = names_and_types(columns)
            database.execute(f"CREATE TABLE {name} ({', '.join(x + ' ' for x, _ in types)})")
            marks = ", ".join("?" for _ in types)
            for row in parse_rows(block.body):
                values = [sqlite_value(text, kind) for text, (_, kind) in zip(row, types)]
                database.execute(f"INSERT INTO {name} VALUES ({marks})", values)
        elif block.kind == "statement" and not block.sql.startswith("SET "):
            database.execute(block.sql)
        elif block.kind == "query" and "only" not in block.head:
            got = [[sqlite_text(x) for x in row] for row in database.execute(block.sql)]
            if ordered(got, block) != ordered(parse_rows(block.expected), block):
                failures.append(f"{block.place}: sqlite3 says {got}")


def check_values(headrace, before, block, directory):
    """Asks for each value alone, as together they could not be had."""
    failures = []
    for expression, expected in block.checks:
        ended = run_headrace(headrace, before + block.values_query([expression]) + ";\n", directory)
        got = ended.stderr.strip()
        if ended.returncode == 0:
            got = value_lines(parse_rows(ended.stdout.split("\n")[1:-1]), 1)[0]
        if got != expected:
            failures.append(f"{block.place}: {expression}: expected {expected}, got {got}")
    return failures


def check_errors(headrace, before, block, directory):
    """Asks for some errors at once, as many as are told of one script."""
    failures, together = [], 15
    for at in range(0, len(block.checks), together):
        some = block.checks[at : at + together]
        script = before + "".join(sql.rstrip(";") + ";\n" for sql, _ in some)
        ended = run_headrace(headrace, script, directory)
        first, told = before.count("\n") + 1, {}
        for line, message in re.findall(r"^line (\d+), (.*)$", ended.stderr, re.MULTILINE):
            told.setdefault(int(line) - first, []).append(message)
        for i, (sql, wanted) in enumerate(some):
            said = "; ".join(told.get(i, ["nothing"]))
            if ended.returncode != 2 or not wanted or wanted not in said:
                failures.append(f"{block.place}: {sql}: expected {wanted!r}, got {said}")
    return failures


def run_file(headrace, path):
    failures, checked = [], 0
    source, blocks = read_blocks(path)
    examples = os.path.join(os.path.dirname(os.path.abspath(headrace)), "examples")
    if source == "sqlite3":
        check_sqlite(blocks, failures)
    with tempfile.TemporaryDirectory() as directory:
        script, before, queries = "", "", []
        for block in blocks:
            block.sql = block.sql.replace("${DIR}", os.path.join(directory, "own")).replace("${EXAMPLES}", examples)
            if block.kind == "errors":
                block.checks = [(sql.replace("${EXAMPLES}", examples), wanted) for sql, wanted in block.checks]
            if block.kind == "table":
                before += ddl_of(block, directory)
                script += ddl_of(block, directory)
            elif block.kind == "statement":
                before += block.sql.rstrip(";") + ";\n"
                script += block.sql.rstrip(";") + ";\n"
            elif block.kind == "query":
                script += "SHOW CURRENT DATABASE;\n" + block.sql.rstrip(";") + ";\n"
                queries.append(block)
            elif block.kind == "values":
                query = block.values_query([expression for expression, _ in block.checks])
                ended = run_headrace(headrace, before + query + ";\n", directory)
                checked += len(block.checks)
                expected = [value for _, value in block.checks]
                answer = parse_rows(ended.stdout.split("\n")[1:-1])
                if ended.returncode != 0 or value_lines(answer, len(expected)) != expected:
                    failures += check_values(headrace, before, block, directory)
            elif block.kind == "changes":
                sql = before + block.sql.rstrip(";") + ";\n"
                ended = run_headrace(headrace, sql, directory, "changelog")
                checked += 1
                if ended.returncode != 0 or sorted(ended.stdout.split("\n")[:-1]) != sorted(block.expected):
                    failures.append(f"{block.place}: code {ended.returncode}: got\n{ended.stdout}{ended.stderr}")
            elif block.kind == "errors":
                checked += len(block.checks)
                failures += check_errors(headrace, before, block, directory)
            elif block.kind in ("error", "failure", "warning"):
                ended = run_headrace(headrace, before + block.sql.rstrip(";") + ";\n", directory)
                checked += 1
                wanted = "\n".join(block.expected)
                code = {"error": 2, "failure": 1, "warning": 0}[block.kind]
                if ended.returncode != code or wanted not in ended.stderr:
                    failures.append(f"{block.place}: expected the {block.kind} {wanted!r}, got code "
                                    f"{ended.returncode}: {ended.stdout}{ended.stderr}")
            else:
                failures.append(f"{block.place}: no such block: {block.kind}")
        ended = run_headrace(headrace, script, directory)
        if ended.returncode != 0:
            failures.append(f"{path}: code {ended.returncode}: {ended.stderr}")
            return failures, checked
        answers = ended.stdout.split(MARK)[1:]
        if len(answers) != len(queries):
            failures.append(f"{path}: {len(queries)} queries, {len(answers)} answers")
        for block, answer in zip(queries, answers):
            checked += 1
            got = ordered(parse_rows(answer.split("\n")[1:-1]), block)
            if got != ordered(parse_rows(block.expected), block):
                lines = "\n".join(answer.split("\n")[1:-1])
                failures.append(f"{block.place}: got\n{lines}")
    return failures, checked


def files_of(paths):
    """The test files that are named, and those below directories."""
    for each in paths:
        if not os.path.isdir(each):
            yield each
            continue
        yield from sorted(
            os.path.join(folder, name)
            for folder, _, names in os.walk(each)
            for name in names
            if name.endswith(".test")
        )


def main():
    headrace, *paths = sys.argv[1:]
    failures, checked = [], 0
    for path in files_of(paths):
        wrong, count = run_file(headrace, path)
        failures += wrong
        checked += count
    for each in failures:
        print(each)
    print(f"{checked} checks, {len(failures)} failures")
    return 1 if failures or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
