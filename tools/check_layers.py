#!/usr/bin/env python3
"""Checks the dependency rule: a folder includes only itself and the folders above it in FOLDERS.

So no cycle can be written, and the list is the reading order of the code. On top of that, some
folders are hidden from others, and each third-party library has its home folders, so that a change
of its version touches only these.
"""

import re
import sys

from sources import INCLUDE, ROOT, line_of, tracked, without_comments

# A folder that is not listed belongs to its nearest listed parent.
FOLDERS = """
    schema

    libactors
    libactors/base
    libactors/message
    libactors/registry
    libactors/rpc
    libactors/transport
    libactors/gateway
    libactors/leader
    libactors/registration
    libactors/heartbeat
    libactors/supervision
    libactors/http

    libgraph
    libgraph/types
    libgraph/data
    libgraph/kernel
    libgraph/user_function
    libgraph/expression/kernel
    libgraph/expression
    libgraph/function
    libgraph/connector
    libgraph/spec
    libgraph/job_graph
    libgraph/transformation
    libgraph/stream_graph
    libgraph/catalog
    libgraph/sql/parse
    libgraph/sql/bind
    libgraph/sql/plan
    libgraph/sql/optimize
    libgraph/sql/translate
    libgraph/sql
    libgraph/api

    libstate
    libstate/key
    libstate/handle
    libstate/storage
    libstate/keyed
    libstate/snapshot
    libstate/backend
    libstate/heap
    libstate/rocksdb
    libstate/operator_state
    libstate/raw_state
    libstate/channel
    libstate/timer
    libstate/checkpoint
    libstate/registry
    libstate/processor

    libtask
    libtask/mailbox
    libtask/network
    libtask/format
    libtask/connector
    libtask/operator
    libtask/checkpoint
    libtask/input
    libtask/task
    libtask/executor

    libscheduler
    libscheduler/execution_graph
    libscheduler/slot
    libscheduler/failover
    libscheduler/source
    libscheduler/checkpoint
    libscheduler/schedule
    libscheduler/ha
    libscheduler/artifact
    libscheduler/job_master
    libscheduler/resource
    libscheduler/dispatcher
    libscheduler/rest
    libscheduler/client

    apps/cluster
    apps/node
    apps/client
    apps/shell
    apps/run
    apps/nexmark
    apps/web
    apps/examples
    apps

    test
    bench
""".split()

FRONT_END = ["libgraph/transformation", "libgraph/stream_graph", "libgraph/catalog", "libgraph/sql",
             "libgraph/api"]
ABOVE_MESSAGES = [name for name in FOLDERS if name.startswith("libactors/")
                  and name not in ("libactors/base", "libactors/message")]

# Part of what a user writes with, though it stands in a runtime library.
PUBLIC = ["libstate/processor"]

# Who must not include what, though it stands above.
HIDDEN = [
    (["libgraph", "libstate"], ABOVE_MESSAGES, "graph and state know no actors"),
    (["libstate", "libtask", "libscheduler"], FRONT_END, "the front end is hidden from the runtime"),
    (["libscheduler"], ["libtask"], "task and scheduler meet in schema/ and libactors/gateway/"),
    (["test"], ["bench"], "nothing includes bench"),
]

# Which third-party headers are included where; an empty list means everywhere. Tests and bench are
# free, but for what only they may have.
TESTS = ["test", "bench"]
HOMES = [
    (r"CLI/", ["apps"]),
    (r"boost/(asio|beast)", ["libactors/http", "libactors/transport"]),
    (r"boost/", []),
    (r"caf/", ["libactors/rpc", "libactors/transport", "libactors/supervision"]),
    (r"(capnp|kj)/", ["schema", "libactors", "libgraph", "libstate/handle"]),
    (r"date/", ["libgraph/expression", "libgraph/types"]),
    (r"doctest/", TESTS),
    (r"editline/", ["apps/shell"]),
    (r"fast_float/", []),
    (r"fmt/", []),
    (r"[a-z]mmintrin\.h", ["libtask/format"]),
    (r"librdkafka/", ["libtask/connector/kafka"]),
    (r"(lua|lauxlib|lualib)", ["apps/shell", "apps/run", "libgraph/user_function"]),
    (r"nlohmann/", ["libactors/http", "libscheduler/rest", "libscheduler/client", "apps"]),
    (r"openssl/", ["libactors/base/digest.cpp", "libactors/transport", "libactors/http"]),
    (r"re2/", ["libgraph/expression"]),
    (r"rocksdb/", ["libstate/rocksdb"]),
    (r"simdjson", ["libtask/format", "libgraph/expression/kernel/json_document.cpp"]),
    (r"spdlog/", ["libactors/base/log.cpp"]),
    (r"xxh", []),
    (r"yaml-cpp/", ["libactors/base/config*", "apps"]),
    (r"zookeeper/", ["libactors/leader", "libscheduler/ha"]),
    (r"zstd", ["libstate/snapshot", "libtask/network"]),
]
SYSTEM = re.compile(r"[a-z0-9_]+$|(sys|arpa|net|netinet|linux)/|cxxabi\.h$|[a-z]mmintrin\.h$|arm_neon\.h$"
                    r"|(dirent|dlfcn|elf|errno|execinfo|fcntl|malloc|netdb|poll|pthread|sched|signal|spawn"
                    r"|termios|time|unistd)\.h$")


def is_in(path, folder):
    if folder.endswith("*"):
        return path.startswith(folder[:-1])
    return path == folder or path.startswith(folder + "/")


def is_in_any(path, folders):
    return any(is_in(path, folder) for folder in folders)


def layer_of(path):
    """Returns the listed folder that a path belongs to, or None."""
    folder = path.rpartition("/")[0]
    while folder and folder not in FOLDERS:
        folder = folder.rpartition("/")[0]
    return folder or None


def project_include_error(path, included):
    here, there = layer_of(path), layer_of(included)
    if there is None:
        return f'"{included}" does not start at the root of the repository'
    if there in TESTS and here not in TESTS:
        return f"nothing includes {there}"
    for viewers, hidden, why in HIDDEN:
        if hidden is FRONT_END and is_in_any(path, PUBLIC):
            continue
        if is_in_any(path, viewers) and is_in_any(included, hidden):
            return f'"{included}" is hidden from {here}: {why}'
    if FOLDERS.index(there) > FOLDERS.index(here):
        return f'"{included}" stands below {here} (see FOLDERS in tools/check_layers.py)'
    return None


def third_party_include_error(path, included):
    if SYSTEM.match(included):
        return None
    for pattern, homes in HOMES:
        if re.match(pattern, included):
            if not homes or is_in_any(path, homes) or (is_in_any(path, TESTS) and homes != TESTS):
                return None
            return f"<{included}> is included only in {', '.join(homes)}"
    return f"<{included}> has no home in HOMES of tools/check_layers.py"


def check(path, text):
    """Yields (line, message) for each include of a file that breaks the rule."""
    if layer_of(path) is None:
        yield 1, "its folder is not listed in FOLDERS of tools/check_layers.py"
        return
    text = without_comments(text)
    for match in INCLUDE.finditer(text):
        check_one = project_include_error if match[1] == '"' else third_party_include_error
        if message := check_one(path, match[2]):
            yield line_of(text, match.start()), message


def main():
    failed = False
    for path in tracked("*.hpp", "*.cpp"):
        for line, message in check(path, (ROOT / path).read_text(encoding="utf-8")):
            print(f"{path}:{line}: {message}")
            failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main())
