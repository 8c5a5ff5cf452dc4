#!/usr/bin/env python3
"""What Flink 2.3 finds by Nexmark's pattern queries in the events that run_nexmark.py checks.

    patterns.py HEADRACE      asks Flink, and writes patterns.json

sqlite3 has no MATCH_RECOGNIZE, so that of each answer the number of rows, some of them and a digest of all
are kept. Flink is fetched as test/sql/flink_oracle.py says. To be asked again when the generator, the
queries or the events of run_nexmark.py change.
"""

import hashlib
import json
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
KEPT = os.path.join(HERE, "patterns.json")
QUERIES = ("p0", "p1", "p2", "p3")


SHOWN = 20


def summary(rows):
    lines = sorted(json.dumps(row) for row in rows)
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    return {"rows": len(lines), "digest": digest, "all": rows, "some": [json.loads(line) for line in lines[:: max(1, -(-len(lines) // SHOWN))]]}


def with_milliseconds(value):
    """A time with the three digits that Flink's client shows; JSON has no zeros at the end."""
    parts = re.fullmatch(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?:\.(\d{1,3}))?", value) if isinstance(value, str) else None
    return f"{parts[1]}.{(parts[2] or '').ljust(3, '0')}" if parts else value


def difference(query, got):
    """What of the rows, as a Counter of tuples, is not as Flink has it; empty: nothing."""
    with open(KEPT, encoding="utf-8") as kept:
        wanted = json.load(kept)[query]
    found = summary([[with_milliseconds(value) for value in row] for row in got.elements()])
    if found["digest"] == wanted["digest"]:
        return ""
    missing = [row for row in wanted["some"] if row not in found["all"]]
    return f"{found['rows']} rows, expected {wanted['rows']}" + (f"; missing: {missing[0]}" if missing else "")


def value_of(text):
    return int(text) if text is not None and re.fullmatch(r"-?\d+", text) else text


def answers(flink, script):
    """The rows of a script's INSERT, whose other statements are DDL."""
    flink.ask(reset=True)
    without_comments = "\n".join(line for line in script.split("\n") if not line.startswith("--"))
    for statement in filter(None, map(str.strip, without_comments.split(";"))):
        asked = re.sub(r"^INSERT INTO \w+\s+", "", statement)
        answer = flink.ask(sql=asked)
        if "error" in answer:
            sys.exit(f"Flink refuses {asked[:60]}…: {answer['error']}")
        if asked != statement:
            return [[value_of(value) for value in row] for row in answer["rows"]]
    sys.exit("the script has no INSERT")


def main():
    sys.path.insert(0, os.path.dirname(HERE))
    import flink_oracle
    import run_nexmark

    headrace = os.path.abspath(sys.argv[1])
    flink = flink_oracle.Flink()
    with tempfile.TemporaryDirectory() as directory:
        data = os.path.join(directory, "events")
        run_nexmark.generate_events(headrace, data, "midnight")
        found = {}
        for query in QUERIES:
            script = run_nexmark.command(headrace, "nexmark", "sql", "--query", query, "--input", data)
            found[query] = summary(answers(flink, script))
            del found[query]["all"]
            print(query, found[query]["rows"], "rows", flush=True)
    flink.close()
    with open(KEPT, "w", encoding="utf-8") as out:
        json.dump(found, out, indent=1)
        out.write("\n")


if __name__ == "__main__":
    main()
