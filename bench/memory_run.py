#!/usr/bin/env python3
"""Holds RocksDB's budget for a long time, and draws what the process took.

Runs build/bench/rocksdb_memory_bench: state on disk that is many times the budget, random updates,
a checkpoint each 30 s. Its figures are added to a record, one JSON line a second. A run that was
broken off goes on where it was when it is started again with the same arguments: the state is filled
anew, which is recorded too, and the minutes of updates that are recorded count.

    nice bench/memory_run.py --budget 512 --state 50 --minutes 60 --directory /var/tmp/memory \\
        --record memory.jsonl --picture docs/memory.svg
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bench", default="build/bench/rocksdb_memory_bench")
    parser.add_argument("--budget", type=int, default=512, help="MB of RocksDB")
    parser.add_argument("--state", type=float, default=50, help="GB on disk")
    parser.add_argument("--minutes", type=float, default=60, help="of updates, over all starts")
    parser.add_argument("--subtasks", type=int, default=2)
    parser.add_argument("--directory", default="/var/tmp/headrace-memory-run",
                        help="of the databases; removed at the end")
    parser.add_argument("--record", default="memory_run.jsonl")
    parser.add_argument("--picture", help="SVG to draw of the record")
    parser.add_argument("--draw-only", action="store_true")
    return parser.parse_args()


def read_record(path, wanted):
    """The lines of earlier starts; a record of another configuration is refused."""
    if not os.path.exists(path):
        return []
    lines = []
    with open(path, encoding="utf-8") as file:
        for text in file:
            try:
                lines.append(json.loads(text))
            except json.JSONDecodeError:
                break  # broken off within a line
    if lines and lines[0]["run"] != wanted:
        sys.exit(f"{path} is of another run: {lines[0]['run']} instead of {wanted}; "
                 "remove it, or name another --record")
    return lines


def updated_minutes(lines):
    done = 0.0
    for at, line in enumerate(lines):
        is_last = at + 1 == len(lines) or lines[at + 1]["start"] != line["start"]
        if is_last and line["phase"] == "update":
            done += line["seconds"] / 60
    return done


def run(given, wanted, lines):
    left = given.minutes - updated_minutes(lines)
    if left <= 0:
        return lines
    start = lines[-1]["start"] + 1 if lines else 0
    shutil.rmtree(given.directory, ignore_errors=True)
    command = [given.bench, str(given.budget), str(given.state), str(left), given.directory,
               str(given.subtasks)]
    with open(given.record, "w", encoding="utf-8") as record:
        for line in lines:  # without what was broken off
            record.write(json.dumps(line) + "\n")
        worker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        signal.signal(signal.SIGTERM, lambda *_: worker.terminate())
        try:
            for text in worker.stdout:
                line = {"run": wanted, "start": start, **json.loads(text)}
                lines.append(line)
                record.write(json.dumps(line) + "\n")
                record.flush()
        except KeyboardInterrupt:
            pass
        finally:
            worker.terminate()
            worker.wait()
            shutil.rmtree(given.directory, ignore_errors=True)
    return lines


def draw(lines, budget, path):
    """Resident memory, and what RocksDB counts, over the seconds of all starts."""
    width, height, left, top, bottom = 760, 360, 60, 30, 45
    most = 1.25 * max(budget * 1.1, max(line["rss_mb"] for line in lines))
    points = []
    offset = 0.0
    for at, line in enumerate(lines):
        if at > 0 and (lines[at - 1]["start"], lines[at - 1]["phase"]) != (line["start"],
                                                                          line["phase"]):
            offset = points[-1][0]
        points.append((offset + line["seconds"], line))
    total = max(points[-1][0], 1.0)

    def x_of(seconds):
        return left + (width - left - 20) * seconds / total

    def y_of(megabytes):
        return top + (height - top - bottom) * (1 - megabytes / most)

    def path_of(name):
        step = max(1, len(points) // 1500)
        kept = points[::step]
        return "M" + " L".join(f"{x_of(at):.1f},{y_of(line[name]):.1f}" for at, line in kept)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
           'font-family="sans-serif" font-size="12">',
           f'<rect width="{width}" height="{height}" fill="white"/>']
    begin = 0.0
    for at, (seconds, line) in enumerate(points):  # shades what is no update
        is_last = at + 1 == len(points) or points[at + 1][1]["phase"] != line["phase"]
        if is_last and line["phase"] == "fill":
            out.append(f'<rect x="{x_of(begin):.1f}" y="{top}" '
                       f'width="{x_of(seconds) - x_of(begin):.1f}" '
                       f'height="{height - top - bottom}" fill="#f0f0f0"/>'
                       f'<text x="{x_of(begin) + 5:.1f}" y="{top + 15}" fill="#777">fill</text>')
        if is_last:
            begin = seconds
    for megabytes in range(0, int(most) + 1, 100):
        y = y_of(megabytes)
        out.append(f'<line x1="{left}" y1="{y:.1f}" x2="{width - 20}" y2="{y:.1f}" '
                   'stroke="#ddd"/>'
                   f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{megabytes}</text>')
    step = next(s for s in (1, 2, 5, 10, 20, 30, 60, 120, 240) if total / 60 / s <= 12)
    for minute in range(0, int(total / 60) + 1, step):
        x = x_of(minute * 60)
        out.append(f'<text x="{x:.1f}" y="{height - bottom + 16}" text-anchor="middle">'
                   f'{minute}</text>')
    for limit, name in ((budget, "budget"), (budget * 1.1, "+ 10 %")):
        y = y_of(limit)
        out.append(f'<line x1="{left}" y1="{y:.1f}" x2="{width - 20}" y2="{y:.1f}" '
                   'stroke="#c00" stroke-dasharray="6 3"/>'
                   f'<text x="{width - 24}" y="{y - 4:.1f}" text-anchor="end" fill="#c00">{name}'
                   '</text>')
    series = (("rss_mb", "#036", "resident memory of the process"),
              ("cache_mb", "#090", "block cache, with write buffers"),
              ("write_buffers_mb", "#d80", "write buffers"))
    for at, (name, colour, label) in enumerate(series):
        out.append(f'<path d="{path_of(name)}" fill="none" stroke="{colour}" stroke-width="1.3"/>'
                   f'<text x="{left + 10 + 230 * at}" y="{top - 10}" fill="{colour}">{label}</text>')
    out.append(f'<text x="{width / 2}" y="{height - 8}" text-anchor="middle">minutes</text>'
               f'<text x="14" y="{height / 2}" transform="rotate(-90 14 {height / 2})" '
               'text-anchor="middle">MB</text></svg>')
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n")


def main():
    given = arguments()
    wanted = {"budget_mb": given.budget, "state_gb": given.state, "subtasks": given.subtasks}
    lines = read_record(given.record, wanted)
    if not given.draw_only:
        lines = run(given, wanted, lines)
    if not lines:
        sys.exit("nothing was recorded")
    updates = [line for line in lines if line["phase"] == "update"]
    print(json.dumps({"bench": "rocksdb_memory", **wanted,
                      "minutes_of_updates": round(updated_minutes(lines), 1),
                      "rss_mb_max": max(line["rss_mb"] for line in lines),
                      "rss_mb_max_under_updates": max((line["rss_mb"] for line in updates),
                                                      default=None),
                      "cache_mb_max": max(line["cache_mb"] for line in lines),
                      "size_gb": lines[-1]["size_gb"],
                      "updates": sum(line["updates"] for at, line in enumerate(lines)
                                     if at + 1 == len(lines)
                                     or lines[at + 1]["start"] != line["start"])}))
    if given.picture:
        draw(lines, given.budget, given.picture)


if __name__ == "__main__":
    main()
