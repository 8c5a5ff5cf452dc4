#!/usr/bin/env python3
"""Runs the example of delays in bad weather, at several parallelisms, over its own small files and,
where scripts/open-data has fetched them, over the open ones: weather_delays_test.py HEADRACE
WEATHER_DELAYS.so SOURCE_DIRECTORY"""

import collections
import csv
import datetime
import json
import pathlib
import subprocess
import sys

HEADRACE, JOB, SOURCES = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
AIRPORTS = {"Seattle": ["SEA"], "New York": ["JFK", "LGA"]}
DAY = datetime.timedelta(days=1)
YEAR = datetime.datetime(2001, 1, 1)


def in_year(text):
    """Since the year began, on the calendar of the text's own year."""
    form = "%Y/%m/%d %H:%M" if "/" in text else "%Y-%m-%d"
    time = datetime.datetime.strptime(text, form)
    return time - datetime.datetime(time.year, 1, 1)


def spells_of(weather):
    days = collections.defaultdict(list)
    for row in csv.DictReader(weather.open()):
        is_bad = (float(row["precipitation"]) >= 5 or float(row["wind"]) >= 8
                  or row["weather"] == "snow")
        if row["date"].startswith("2012") and is_bad:
            for airport in AIRPORTS[row["location"]]:
                days[airport].append((in_year(row["date"]), float(row["precipitation"])))
    for airport, bad in days.items():
        spell = []
        for day, rain in sorted(bad):
            if spell and day - spell[-1][0] > DAY * 1.5:
                yield airport, spell
                spell = []
            spell.append((day, rain))
        yield airport, spell


def expected_delays(weather, flights):
    flown = [json.loads(line) for line in flights.open()]
    for airport, spell in spells_of(weather):
        start, end = spell[0][0], spell[-1][0] + DAY
        late = [each["delay"] for each in flown
                if each["origin"] == airport and start <= in_year(each["date"]) < end]
        if late:
            yield (airport, f"{YEAR + start:%m-%d}", f"{YEAR + end - DAY:%m-%d}", len(late),
                   sum(each >= 15 for each in late), round(sum(rain for _, rain in spell), 6),
                   round(sum(late) / len(late), 6))


def found_delays(weather, flights, parallelism):
    done = subprocess.run(
        [HEADRACE, "run", JOB, "--parallelism", parallelism, "--", "--weather", weather,
         "--flights", flights], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done
    for line in done.stdout.splitlines():
        assert line.startswith("+I[") and line.endswith("]"), line
        airport, first, last, rain, flights_in, late, mean = line[3:-1].split(", ")
        yield (airport, first, last, int(flights_in), int(late), round(float(rain), 6),
               round(float(mean), 6))


def main():
    inputs = [(SOURCES / "apps/examples/data/city_weather.csv",
               SOURCES / "apps/examples/data/flights.json")]
    fetched = SOURCES / ".cache/open-data"
    if (fetched / "weather.csv").exists():
        inputs.append((fetched / "weather.csv", fetched / "flights-20k.json"))
    for weather, flights in inputs:
        expected = sorted(expected_delays(weather, flights))
        assert len(expected) >= 6, expected
        for parallelism in ("1", "3"):
            found = sorted(found_delays(weather, flights, parallelism))
            assert found == expected, (found, expected)


main()
