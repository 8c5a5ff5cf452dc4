#!/usr/bin/env python3
"""Plants known bugs in the product, one at a time, and counts the seeds of the simulated cluster
that it takes to find each:

    test/simulation/run_planted.py [--only NAME] [--seeds 2000] [--scratch build/planted]

planted/NAME.patch is a bug: a sentence that says what is broken, an empty line, and a unified diff.
Where a hunk goes is told by its lines alone, which occur once in their file; so it survives edits
elsewhere. --check says whether all still fit, and builds nothing.

The bugs are built in a copy of the source tree (--scratch), and what was found is kept there: the same
command goes on where it ended. A bug whose patch has changed begins anew; so do all with --anew, as
after changes of the product or of the simulation. A seed that fails without the bug, too, does not
count. A minute or more for each bug; not part of scripts/test.
"""

import argparse
import hashlib
import json
import os
import pathlib
import queue
import re
import shlex
import shutil
import subprocess
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLANTED = pathlib.Path(__file__).resolve().parent / "planted"
PROGRAM = "test/simulation/headrace-sim"
FAILED = re.compile(r"seed (\d+): (.*)")
CHUNK_SEEDS = 50
SEED_TIMEOUT_S = 300  # of one seed and its shrinking, on a busy machine; most take a tenth of a second


class Misfit(Exception):
    """A patch that does not fit the source."""


class Bug:
    def __init__(self, path):
        self.name = path.stem
        text = path.read_text()
        self.words, _, self.diff = text.partition("\n\n")
        self.digest = hashlib.sha256(text.encode()).hexdigest()[:16]

    def files(self):
        """What the changed files are to be: path → text.

        Raises Misfit."""
        out = {}
        for path, old, new in hunks(self.diff):
            source = ROOT / path
            if path not in out and not source.is_file():
                raise Misfit(f"{self.name}: no such file: {path}")
            text = out.get(path) or source.read_text()
            out[path] = replace(self.name, path, text, old, new)
        if not out:
            raise Misfit(f"{self.name}: no hunks")
        return out


def hunks(diff):
    """Yields (path, old text, new text) for each hunk of a unified diff."""
    path, old, new = None, None, None
    for line in diff.splitlines(True) + ["@@"]:
        if line.startswith(("--- ", "+++ ", "@@")):
            if old is not None:
                yield path, "".join(old), "".join(new)
            old = new = None
        if line.startswith("+++ b/"):
            path = line[len("+++ b/") :].rstrip("\n")
        elif line.startswith("@@"):
            old, new = [], []
        elif old is not None:
            if line[0] in " -":
                old.append(line[1:])
            if line[0] in " +":
                new.append(line[1:])


def replace(name, path, text, old, new):
    """The text with the lines of one hunk replaced. Raises Misfit unless they occur once."""
    found = list(re.finditer("(?m)^" + re.escape(old), text))
    if len(found) != 1:
        raise Misfit(f"{name}: lines occur {len(found)} times instead of once in {path}:\n{old}")
    return text[: found[0].start()] + new + text[found[0].end() :]


def load():
    return [Bug(path) for path in sorted(PLANTED.glob("*.patch"))]


def check(bugs):
    """What is wrong with the patches, in words; nothing when all fit."""
    wrong = []
    for bug in bugs:
        try:
            bug.files()
        except Misfit as misfit:
            wrong.append(str(misfit))
        if "\n" in bug.words or not bug.words.endswith("."):
            wrong.append(f"{bug.name}: begins with no sentence that says what is broken")
    return wrong


class Scratch:
    """A copy of the source tree, with a build of its own."""

    def __init__(self, directory, ninja):
        self.source = directory / "source"
        self.build = self.source / "build"  # where ccache knows it from other trees
        self.ninja = shlex.split(ninja)

    def refresh(self):
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT, check=True, capture_output=True,
        )  # fmt: skip
        for path in filter(None, listed.stdout.decode().split("\0")):
            if (ROOT / path).is_file():
                self.write(path, (ROOT / path).read_bytes())
        if not (self.build / "build.ninja").exists():
            subprocess.run(["meson", "setup", self.build, self.source], check=True)

    def write(self, path, content):
        """Leaves alone what is the same, so that it is not built again."""
        to = self.source / path
        if to.is_file() and to.read_bytes() == content:
            return
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(content)
        shutil.copymode(ROOT / path, to)

    def make(self, changed, to):
        """Builds the simulated cluster with the changed files, and keeps the program and its library.

        Returns what the compiler said if it does not build, else nothing."""
        for path, text in changed.items():
            self.write(path, text.encode())
        try:
            environment = dict(os.environ, LC_ALL="C", CCACHE_SLOPPINESS="pch_defines,time_macros")
            done = subprocess.run(
                [*self.ninja, "-C", self.build, PROGRAM],
                env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            )  # fmt: skip
            if done.returncode != 0:
                return done.stdout[-4000:]
            for path in [*self.build.glob("libheadrace.so"), self.build / PROGRAM]:
                into = to / path.relative_to(self.build)  # so that the one finds the other
                into.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, into)
            return ""
        finally:
            for path in changed:
                self.write(path, (ROOT / path).read_bytes())


def run(program, first, seeds):
    """The first seed that fails and what is said of it; nothing when none does."""
    command = [program, "--seeds", str(seeds), "--first", str(first)]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    watch = threading.Timer(SEED_TIMEOUT_S + 2 * seeds, running.kill)
    watch.start()
    said = ""
    try:
        for line in running.stdout:
            said = line.strip() or said
            if found := FAILED.match(line):
                return int(found[1]), found[2]
        if running.wait() == 0:
            return None
    finally:
        watch.cancel()
        running.kill()
        running.wait()
    if seeds == 1:  # it says nothing of the seed that it died of
        ended = "did not end" if running.returncode == -9 else f"died: {said}"
        return first, f"the program {ended}"
    for seed in range(first, first + seeds):
        if found := run(program, seed, 1):
            return found
    return None


class Results:
    def __init__(self, path):
        self.path = path
        self.known = json.loads(path.read_text()) if path.exists() else {}
        self.lock = threading.Lock()

    def get(self, bug):
        known = self.known.get(bug.name, {})
        return known if known.get("digest") == bug.digest else {"passed": 0}

    def put(self, bug, passed, found):
        with self.lock:
            self.known[bug.name] = {"digest": bug.digest, "passed": passed}
            if found:
                self.known[bug.name].update(seed=found[0], words=found[1])
            self.path.write_text(json.dumps(self.known, indent=1, sort_keys=True))


class Search:
    """Looks for bugs in threads, those first for which the fewest seeds have passed."""

    def __init__(self, clean, seeds, jobs, results):
        self.clean = clean
        self.seeds = seeds
        self.results = results
        self.waiting = queue.PriorityQueue()
        for _ in range(jobs):
            threading.Thread(target=self.work, daemon=True).start()

    def add(self, bug, program):
        self.waiting.put((self.results.get(bug)["passed"], bug.name, bug, program))

    def work(self):
        while True:
            passed, _, bug, program = self.waiting.get()
            count = min(CHUNK_SEEDS, self.seeds - passed)
            found = run(program, passed + 1, count)
            if found and run(self.clean, found[0], 1):
                print(f"seed {found[0]} fails without {bug.name}, too: {found[1]}", flush=True)
                passed, found = found[0], None
            else:
                passed = found[0] - 1 if found else passed + count
            self.results.put(bug, passed, found)
            if found or passed >= self.seeds:
                shutil.rmtree(program.parents[2])
                print(row(bug, self.results.get(bug)), flush=True)
            else:
                self.add(bug, program)
            self.waiting.task_done()


def row(bug, result):
    if "seed" in result:
        found = f"{result['seed']:,}"
    else:
        found = f"not found in {result['passed']:,}"
    words = re.sub(r"/\S+", "…", result.get("words", ""))
    words = words if len(words) <= 100 else words[:99] + "…"
    return f"| `{bug.name}` | {bug.words[0].lower() + bug.words[1:-1]} | {found} | {words} |"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", action="append", metavar="NAME", help="this bug; may be repeated")
    parser.add_argument("--seeds", type=int, default=2000, help="at most so many for each bug")
    parser.add_argument("--scratch", type=pathlib.Path, default=ROOT / "build" / "planted")
    parser.add_argument("--ninja", default="ninja", help="the command that builds")
    parser.add_argument("--jobs", type=int, default=1, help="bugs that are looked for at once")
    parser.add_argument("--anew", action="store_true", help="forget what was found before")
    parser.add_argument("--check", action="store_true", help="only say whether the patches fit")
    options = parser.parse_args()

    bugs = load()
    if unknown := set(options.only or []) - {bug.name for bug in bugs}:
        parser.error("no such bug: " + ", ".join(sorted(unknown)))
    bugs = [bug for bug in bugs if not options.only or bug.name in options.only]
    if wrong := check(bugs):
        sys.exit("\n".join(wrong))
    if options.check:
        return
    scratch_directory = options.scratch.resolve()
    scratch_directory.mkdir(parents=True, exist_ok=True)
    results = Results(scratch_directory / "results.json")
    if options.anew:
        results.known.clear()
    scratch = Scratch(scratch_directory, options.ninja)
    scratch.refresh()
    wanted = []
    for bug in bugs:
        known = results.get(bug)
        if "seed" not in known and known["passed"] < options.seeds:
            wanted.append(bug)
    unbuilt = []
    if wanted:
        if said := scratch.make({}, scratch_directory / "clean"):
            sys.exit(said)
        search = Search(scratch_directory / "clean" / PROGRAM, options.seeds, options.jobs, results)
    for bug in wanted:
        into = scratch_directory / "bugs" / bug.name
        if said := scratch.make(bug.files(), into):
            print(f"{bug.name} does not build:\n{said}", flush=True)
            unbuilt.append(bug.name)
        else:
            search.add(bug, into / PROGRAM)
    if wanted:
        search.waiting.join()
    print("| bug | what is broken | seeds needed | what is said of the first |\n|---|---|---|---|")
    for bug in bugs:
        print(row(bug, results.get(bug)))
    if unbuilt:
        sys.exit("not built: " + ", ".join(unbuilt))


if __name__ == "__main__":
    main()
