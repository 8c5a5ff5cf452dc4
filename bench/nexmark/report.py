"""What the record of measurements comes to: a document, a table, and a picture of bars."""

import math

import plan
from figures import geometric_mean, spread

COLOURS = {"headrace": "#036", "flink": "#d80", "loop": "#999", "decoded": "#ccc"}
NAMES = {"headrace": "Headrace", "flink": "Flink", "loop": "loop over the file", "decoded": "loop over decoded events"}


def summary(runs):
    """The figures of one engine and query: spreads over its repetitions."""
    out = {}
    for name, value in (("events_per_second", lambda run: run["events"] / run["seconds"]),
                        ("events_per_core_second", lambda run: run["events"] / run["core_seconds"]),
                        ("core_seconds", lambda run: run["core_seconds"]), ("seconds", lambda run: run["seconds"]),
                        ("peak_memory_bytes", lambda run: run["peak_memory_bytes"]),
                        ("steady_events_per_second", lambda run: run.get("steady_events_per_second"))):
        values = [value(run) for run in runs]
        if None not in values:
            out[name] = spread(values)
    out["events"] = runs[0]["events"]
    return out


def ratio(row, name, engine, other, inverse=False):
    """How many times the median of `other` that of `engine` is; None where one was not measured."""
    try:
        value = row["engines"][engine][name]["median"] / row["engines"][other][name]["median"]
    except (KeyError, ZeroDivisionError):
        return None
    return 1 / value if inverse and value else value


def same_rows(counts):
    """Whether all who counted the rows of a result agree; None when fewer than two have."""
    known = [count for count in counts.values() if count is not None]
    return None if len(known) < 2 else len(set(known)) == 1


def make(lines):
    """The document: a row a pass and query, means over them, and the settings."""
    rows = []
    for name in plan.PASSES:
        for query in plan.QUERIES:
            for form in sorted({line["format"] for line in lines if "format" in line}):
                row = make_row(lines, name, query, form)
                if row:
                    rows.append(row)
    means = []
    for name in plan.PASSES:
        of = [row for row in rows if row["pass"] == name]
        if of:
            means.append({"pass": name, **{key: geometric_mean(row[key] for row in of if row.get(key)) for key in (
                "core_rate_to_flink", "rate_to_flink", "core_rate_to_loop", "core_rate_to_decoded",
                "memory_of_flink")}})
    return {"rows": rows, "geometric_means": means, "conditions": [line for line in lines if line["kind"] == "conditions"],
            "settings": [line for line in lines if line["kind"] == "settings"]}


def make_row(lines, name, query, form):
    here = [line for line in lines if line.get("pass") == name and line.get("query") == query
            and line.get("format") == form]
    runs = [line for line in here if line["kind"] == "run" and line["is_counted"]]
    refused = {line["engine"]: line["error"] for line in here if line["kind"] == "refused"}
    if not runs and not refused:
        return None
    row = {"pass": name, "query": query, "format": form, "engines": {}, "refused": refused}
    for engine in plan.ENGINES:
        of = [run for run in runs if run["engine"] == engine]
        if of:
            row["engines"][engine] = summary(of)
    for key, engine in (("core_rate_to_flink", "flink"), ("core_rate_to_loop", "loop"),
                        ("core_rate_to_decoded", "decoded")):
        row[key] = ratio(row, "events_per_core_second", "headrace", engine)
    row["rate_to_flink"] = ratio(row, "events_per_second", "headrace", "flink")
    row["memory_of_flink"] = ratio(row, "peak_memory_bytes", "headrace", "flink")
    counts = [line for line in here if line["kind"] == "rows"]
    row["rows"] = counts[-1]["counts"] if counts else {}
    row["are_rows_same"] = None if query in plan.BY_THE_CLOCK else same_rows(row["rows"])
    return row


def short(value, digits=2):
    return "" if value is None else f"{value:.{digits}f}"


def millions(row, engine, name="events_per_second"):
    of = row["engines"].get(engine, {}).get(name)
    return "" if of is None else f"{of['median'] / 1e6:.3f}"


def table(document):
    """Markdown."""
    out = ["| pass | query | events | Headrace, M events/s | Flink | steady, Headrace | Flink | M events a core-second, "
           "Headrace | Flink | loop | decoded | to Flink, a core | to loop | memory MB, Headrace | Flink | rows "
           "| spread |", "|---" * 17 + "|"]
    for row in document["rows"]:
        def memory(engine, of=row):
            found = of["engines"].get(engine, {}).get("peak_memory_bytes")
            return "" if found is None else f"{found['median'] / 1048576:.0f}"
        spreads = [of["events_per_core_second"]["spread"] for engine, of in row["engines"].items()
                   if engine in ("headrace", "flink")]
        same = {None: "", True: "same", False: "DIFFER"}[row["are_rows_same"]]
        events = next((of["events"] for of in row["engines"].values()), "")
        core = "events_per_core_second"
        steady = "steady_events_per_second"
        refused = "refused" if "flink" in row["refused"] else ""
        cells = [row["pass"], f"{row['query']} {row['format']}", events, millions(row, "headrace"),
                 millions(row, "flink") or refused, millions(row, "headrace", steady), millions(row, "flink", steady),
                 *(millions(row, engine, core) for engine in plan.ENGINES), short(row["core_rate_to_flink"], 1),
                 short(row["core_rate_to_loop"]), memory("headrace"), memory("flink"), same,
                 f"{100 * max(spreads):.0f} %" if spreads else ""]
        out.append("| " + " | ".join(map(str, cells)) + " |")
    for each in document["geometric_means"]:
        out.append(f"\n{each['pass']}, geometric means: a core {short(each['core_rate_to_flink'], 1)} times Flink, by the "
                   f"clock {short(each['rate_to_flink'], 1)}; {short(each['core_rate_to_loop'])} of the loop, "
                   f"{short(each['core_rate_to_decoded'])} of the one over decoded events; "
                   f"{short(each['memory_of_flink'])} of Flink's memory")
    return "\n".join(out) + "\n"


def picture(document, name):
    """SVG: for each query of a pass a bar an engine, events a core-second, logarithmic."""
    rows = [row for row in document["rows"] if row["pass"] == name and row["engines"]]
    engines = [engine for engine in plan.ENGINES if any(engine in row["engines"] for row in rows)]
    bar, gap, left, top, height = 7, 10, 70, 50, 300
    group = bar * len(engines) + gap
    width = left + group * len(rows) + 20
    width = max(width, 640)
    rates = [of["events_per_core_second"]["median"] for row in rows for of in row["engines"].values()]
    low = 10 ** math.floor(math.log10(min(rates))) if rates else 1
    high = max(10 ** math.ceil(math.log10(max(rates))) if rates else 10, low * 10)

    def y_of(rate):
        return top + height * (1 - math.log(rate / low) / math.log(high / low))

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{top + height + 40}" '
           'font-family="sans-serif" font-size="11">',
           f'<rect width="{width}" height="{top + height + 40}" fill="white"/>',
           f'<text x="{left}" y="16">events a core-second, {name}</text>']
    step = low
    while step <= high:
        out.append(f'<line x1="{left}" y1="{y_of(step):.1f}" x2="{width - 20}" y2="{y_of(step):.1f}" stroke="#ddd"/>'
                   f'<text x="{left - 6}" y="{y_of(step) + 4:.1f}" text-anchor="end">{step:,}</text>')
        step *= 10
    for at, row in enumerate(rows):
        x = left + gap / 2 + at * group
        for i, engine in enumerate(engines):
            if engine in row["engines"]:
                y = y_of(row["engines"][engine]["events_per_core_second"]["median"])
                out.append(f'<rect x="{x + i * bar:.1f}" y="{y:.1f}" width="{bar - 1}" height="{top + height - y:.1f}" '
                           f'fill="{COLOURS[engine]}"/>')
        label = row["query"] + ("" if row["format"] == "json" else " " + row["format"])
        out.append(f'<text x="{x + bar * len(engines) / 2:.1f}" y="{top + height + 16}" text-anchor="middle">'
                   f'{label}</text>')
    for i, engine in enumerate(engines):
        out.append(f'<rect x="{left + 150 * i}" y="26" width="10" height="10" fill="{COLOURS[engine]}"/>'
                   f'<text x="{left + 150 * i + 14}" y="35">{NAMES[engine]}</text>')
    return "\n".join([*out, "</svg>"]) + "\n"
