"""The files of events, made once and shared by all queries and engines.

Of each number of events, DIRECTORY/NUMBER/PARTS has events.json/ and events.csv/ with as many files as
there are readers, who get the events in turns of TURN. So one reader reads one file, both are at about
the same event time, and no engine has late rows that the other one has not.
"""

import itertools
import os
import shutil

from run_nexmark import command

TURN = 100
FORMATS = ("json", "csv")


def deal(path, directory, parts):
    """Deals the lines of a file out to so many files."""
    os.makedirs(directory, exist_ok=True)
    with open(path, "rb") as lines:
        outs = [open(os.path.join(directory, f"part-{part}"), "wb") for part in range(parts)]
        for turn in itertools.count():
            block = list(itertools.islice(lines, TURN))
            if not block:
                break
            outs[turn % parts].writelines(block)
        for out in outs:
            out.close()


def make(headrace, directory, events, parts, form, rate, seed=1):
    """The directory that `headrace nexmark sql --input` takes."""
    home = os.path.join(directory, f"{events}-{rate}-{seed}", f"{parts}-{form}")
    name = f"events.{form}"
    if not os.path.isdir(os.path.join(home, name)):
        scratch = home + ".making"
        shutil.rmtree(scratch, ignore_errors=True)
        command(headrace, "nexmark", "generate", "--events", str(events), "--rate", str(rate), "--seed", str(seed),
                "--output", os.path.join(scratch, "whole"), "--format", form)
        deal(os.path.join(scratch, "whole", name), os.path.join(scratch, name), parts)
        os.rename(os.path.join(scratch, "whole", "side_input.csv"), os.path.join(scratch, "side_input.csv"))
        shutil.rmtree(os.path.join(scratch, "whole"))
        os.makedirs(os.path.dirname(home), exist_ok=True)
        shutil.rmtree(home, ignore_errors=True)
        os.rename(scratch, home)
    return home


def files(home, form):
    folder = os.path.join(home, f"events.{form}")
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]


def size(home, form):
    return sum(os.path.getsize(path) for path in files(home, form))
