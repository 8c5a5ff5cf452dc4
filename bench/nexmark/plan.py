"""What is run: queries, passes, and the settings that both engines get."""

# q6 is refused by Flink and by Headrace, for the same reason.
QUERIES = [f"q{number}" for number in range(24) if number != 6]
STATEFUL = ("q3", "q4", "q5", "q7", "q8", "q9", "q11", "q12", "q15", "q16", "q17", "q18", "q19", "q20", "q23")
LOOPS = ("q0", "q1", "q2", "q3", "q5", "q7", "q8", "q14", "q17", "q18", "q20", "q22")
BY_THE_CLOCK = ("q12",)  # their rows depend on when they run
WRITES_FILES = ("q10",)
PASSES = ("hashmap", "rocksdb", "mini-batch")
ENGINES = ("headrace", "flink", "loop", "decoded")
MINI_BATCH = {"table.exec.mini-batch.enabled": "true", "table.exec.mini-batch.allow-latency": "2 s",
              "table.exec.mini-batch.size": "50000"}


def queries_of(name, queries):
    return [each for each in queries if name == "hashmap" or each in STATEFUL]


def engines_of(name, query, engines):
    """The loops know one way to keep state, and some of the queries."""
    return [each for each in engines
            if each in ("headrace", "flink") or (name == "hashmap" and query in LOOPS)]


def settings_of(name, checkpoint_interval, rocksdb_memory_mb):
    """Settings of a job that have the same keys and the same meaning in both engines."""
    out = {"state.backend.type": "rocksdb" if name == "rocksdb" else "hashmap", "table.local-time-zone": "UTC"}
    if checkpoint_interval != "0":
        out["execution.checkpointing.interval"] = checkpoint_interval
    if name == "rocksdb":
        out["state.backend.rocksdb.memory.fixed-per-tm"] = f"{rocksdb_memory_mb} mb"
    if name == "mini-batch":
        out.update(MINI_BATCH)
    return out


def statements(script):
    """The tables and views of a script, and its INSERT. No text of the queries has a semicolon."""
    every = ["\n".join(line for line in each.split("\n") if not line.startswith("--")).strip()
             for each in script.split(";")]
    every = [each for each in every if each]
    return every[:-1], every[-1]


def counting(insert):
    """How many rows the result of an INSERT comes to, as a query."""
    return f"SELECT COUNT(*) AS result_rows FROM (\n{insert.split(chr(10), 1)[1]}\n)"


def in_turn(engines, repeat):
    """Each engine is first once."""
    at = repeat % len(engines)
    return [*engines[at:], *engines[:at]]
