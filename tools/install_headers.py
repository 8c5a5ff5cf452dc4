#!/usr/bin/env python3
"""Installs what job objects include, as Meson's install script: install_headers.py BUILD TARGET."""

import os
import shutil
import sys
from pathlib import Path

from sources import ROOT


def main(build, target):
    target = Path(os.environ["MESON_INSTALL_DESTDIR_PREFIX"]) / target
    for root, pattern in [(ROOT, "lib*/**/*.hpp"), (Path(build), "schema/*.h"),
                          (Path(build), "libgraph/headers_digest.hpp")]:
        for header in root.glob(pattern):
            installed = target / header.relative_to(root)
            installed.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(header, installed)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
