#!/usr/bin/env python3
"""Writes a header with a digest of what job objects compile against.

    tools/digest_headers.py OUTPUT DEPFILE

These are the headers of the folders that users include, and all project headers that those include,
generated ones by their schemas. The same files give the same digest on any machine.
"""

import hashlib
import sys
from pathlib import Path

from sources import ROOT, closure

FOLDERS = ["libgraph/api", "libgraph/connector", "libgraph/function"]

TEXT = """#pragma once

/// Changes with the headers that a job object is built from.
#define HEADRACE_HEADERS_DIGEST "{digest}"
"""


def public_headers(root=ROOT):
    """Returns the texts of the headers by their paths."""
    known = {}
    for folder in FOLDERS:
        for header in sorted((root / folder).glob("*.hpp")):
            closure(header.relative_to(root).as_posix(), root, known)
    return known


def digest_of(texts):
    digest = hashlib.sha256()
    for path, text in sorted(texts.items()):
        content = text.encode()
        digest.update(f"{path}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:32]


def main(output, depfile):
    texts = public_headers()
    Path(output).write_text(TEXT.format(digest=digest_of(texts)), encoding="utf-8")
    sources = (path.removesuffix(".h") if path.endswith(".capnp.h") else path for path in texts)
    needed = " ".join(str(ROOT / path).replace(" ", "\\ ") for path in sorted(sources))
    Path(depfile).write_text(f"{output}: {needed}\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
