"""Lists the files of the repository and reads C++ as the checkers want it."""

import fnmatch
import hashlib
import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def tracked(*patterns, root=ROOT):
    """Returns the paths, relative to the root, of the files that git knows or would add.

    Without git (an unpacked release) these are all files outside of build directories.
    """
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"],
                            cwd=root, capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        names = {name for name in listed.stdout.splitlines() if (root / name).exists()}
    else:
        names = set()
        for folder, subfolders, files in os.walk(root):
            subfolders[:] = [s for s in subfolders if not s.startswith(("build", "."))]
            names.update(os.path.relpath(os.path.join(folder, file), root) for file in files)
    return sorted(name for name in names
                  if any(fnmatch.fnmatch(os.path.basename(name), p) for p in patterns))


INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)

_TOKENS = re.compile(
    r'//[^\n]*|/\*.*?\*/'  # comments
    r'|R"([^()\\\s]{0,16})\(.*?\)\1"'  # raw strings
    r'|"(?:[^"\\\n]|\\.)*"'  # strings
    r"|(?<![0-9A-Za-z_])'(?:[^'\\\n]|\\.)*'",  # characters, but not the ' of 60'000
    re.DOTALL)


def without_comments_and_strings(text):
    """Returns C++ text with these blanked out, each line still in its place."""
    def blank(match):
        newlines = "\n" * match.group().count("\n")
        return newlines if match.group()[0] == "/" else '""' + newlines
    return _TOKENS.sub(blank, text)


def without_comments(text):
    """Returns C++ text with comments blanked out, each line still in its place."""
    return _TOKENS.sub(
        lambda match: "\n" * match.group().count("\n") if match.group()[0] == "/" else match.group(),
        text)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def closure(path, root=ROOT, known=None):
    """Returns the texts, by path, of a file and of all project files that it includes."""
    known = {} if known is None else known
    # A generated header changes with its schema.
    source = root / (path.removesuffix(".h") if path.endswith(".capnp.h") else path)
    if path not in known and source.is_file():
        known[path] = source.read_text(encoding="utf-8")
        for match in INCLUDE.finditer(known[path]):
            if match[1] == '"':
                closure(match[2], root, known)
    return known


def closure_hash(path, root=ROOT, salt=""):
    """Returns a hash that changes when the file or anything of ours that it includes does."""
    digest = hashlib.sha256(salt.encode())
    for name, text in sorted(closure(path, root).items()):
        digest.update(f"\0{name}\0{text}".encode())
    return digest.hexdigest()
