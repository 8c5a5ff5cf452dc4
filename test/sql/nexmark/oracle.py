"""What Nexmark's queries come to, by sqlite3 over the same files of events.

Rows are tuples: numbers as int or Decimal, times as texts. A result is a multiset, as rows may be equal.
Queries that depend on the clock (q12) and on what Flink refuses (q6) have none.
"""

import json
import re
import sqlite3
from collections import Counter
from datetime import datetime, timezone
from decimal import Decimal

EPOCH = datetime(1970, 1, 1)


def millis(text):
    moment = datetime.strptime(text, "%Y-%m-%d %H:%M:%S.%f" if "." in text else "%Y-%m-%d %H:%M:%S")
    delta = moment - EPOCH
    return (delta.days * 86_400 + delta.seconds) * 1000 + delta.microseconds // 1000


def time_text(ms):
    moment = datetime.fromtimestamp(ms // 1000, timezone.utc)
    return f"{moment:%Y-%m-%d %H:%M:%S}.{ms % 1000:03d}".rstrip("0").rstrip(".")  # as files have it


def load(path):
    """A database of the tables person, auction and bid; times in milliseconds; rowid is the order in
    which they came."""
    database = sqlite3.connect(":memory:")
    database.create_function("time_text", 1, time_text, deterministic=True)
    database.create_function("regexp_group", 3, regexp_group, deterministic=True)
    database.create_function("split_index", 3, split_index, deterministic=True)
    database.execute(
        "CREATE TABLE person (id, name, emailAddress, creditCard, city, state, t, extra)")
    database.execute(
        "CREATE TABLE auction (id, itemName, description, initialBid, reserve, t, expires, seller, "
        "category, extra)")
    database.execute("CREATE TABLE bid (auction, bidder, price, channel, url, t, extra)")
    kinds = ("person", "auction", "bid")
    for line in open(path, encoding="utf-8"):
        event = json.loads(line)
        kind = kinds[event["event_type"]]
        row = event[kind]
        assert all(event[other] is None for other in kinds if other != kind)
        values = [millis(value) if key in ("dateTime", "expires") else value for key, value in row.items()]
        database.execute(f"INSERT INTO {kind} VALUES ({', '.join('?' * len(values))})", values)
    database.execute("CREATE INDEX bid_auction ON bid (auction)")
    database.execute("CREATE INDEX auction_id ON auction (id)")
    database.execute("CREATE INDEX auction_seller ON auction (seller)")
    database.execute("CREATE INDEX person_id ON person (id)")
    return database


def regexp_group(text, pattern, group):
    found = re.search(pattern, text)
    return found.group(group) if found else None


def split_index(text, separator, index):
    parts = text.split(separator)
    return parts[index] if index < len(parts) else None


RANKS = """
  COUNT(*),
  COUNT(*) FILTER (WHERE price < 10000),
  COUNT(*) FILTER (WHERE price >= 10000 AND price < 1000000),
  COUNT(*) FILTER (WHERE price >= 1000000)"""
DISTINCT_RANKS = RANKS + "".join(
    f""",
  COUNT(DISTINCT {column}),
  COUNT(DISTINCT CASE WHEN price < 10000 THEN {column} END),
  COUNT(DISTINCT CASE WHEN price >= 10000 AND price < 1000000 THEN {column} END),
  COUNT(DISTINCT CASE WHEN price >= 1000000 THEN {column} END)"""
    for column in ("bidder", "auction")
)
DAY = "strftime('%Y-%m-%d', t / 1000, 'unixepoch')"
MINUTE = "strftime('%H:%M', t / 1000, 'unixepoch')"
CHANNEL_ID = "regexp_group(url, '(&|^)channel_id=([^&]*)', 2)"

QUERIES = {
    "q0": "SELECT auction, bidder, price, time_text(t), extra FROM bid",
    "q1": "SELECT auction, bidder, price * 908, time_text(t), extra FROM bid",
    "q2": "SELECT auction, price FROM bid WHERE auction % 123 = 0",
    "q3": """SELECT P.name, P.city, P.state, A.id FROM auction A JOIN person P ON A.seller = P.id
             WHERE A.category = 10 AND P.state IN ('OR', 'ID', 'CA')""",
    "q4": """SELECT category, SUM(final) / COUNT(*) FROM (
               SELECT MAX(B.price) AS final, A.category AS category
               FROM auction A JOIN bid B ON A.id = B.auction
               WHERE B.t >= A.t AND B.t <= A.expires GROUP BY A.id, A.category)
             GROUP BY category""",
    "q5": """WITH back(ms) AS (VALUES (0), (2000), (4000), (6000), (8000)),
             counted AS (
               SELECT auction, t / 2000 * 2000 - ms AS start, COUNT(*) AS num FROM bid, back
               GROUP BY auction, start)
             SELECT auction, num FROM (
               SELECT auction, num, MAX(num) OVER (PARTITION BY start) AS most FROM counted)
             WHERE num >= most""",
    "q7": """WITH highest AS (
               SELECT MAX(price) AS price, t / 10000 * 10000 + 10000 AS ending FROM bid
               GROUP BY ending)
             SELECT B.auction, B.price, B.bidder, time_text(B.t), B.extra
             FROM bid B JOIN highest H ON B.price = H.price
             WHERE B.t >= H.ending - 10000 AND B.t <= H.ending""",
    "q8": """SELECT P.id, P.name, time_text(P.start) FROM
               (SELECT DISTINCT id, name, t / 10000 * 10000 AS start FROM person) AS P
             JOIN (SELECT DISTINCT seller, t / 10000 * 10000 AS start FROM auction) AS A
             ON P.id = A.seller AND P.start = A.start""",
    "q9": """SELECT id, itemName, description, initialBid, reserve, time_text(t), time_text(expires),
               seller, category, extra, auction, bidder, price, time_text(bid_t), bid_extra
             FROM (
               SELECT A.*, B.auction, B.bidder, B.price, B.t AS bid_t, B.extra AS bid_extra,
                 ROW_NUMBER() OVER (PARTITION BY A.id ORDER BY B.price DESC, B.t, B.rowid) AS place
               FROM auction A JOIN bid B ON A.id = B.auction
               WHERE B.t >= A.t AND B.t <= A.expires)
             WHERE place = 1""",
    "q10": f"""SELECT auction, bidder, price, time_text(t), extra, {DAY}, {MINUTE} FROM bid""",
    "q11": """SELECT bidder, COUNT(*), time_text(MIN(t)), time_text(MAX(t) + 10000) FROM (
               SELECT bidder, t, SUM(begins) OVER (PARTITION BY bidder ORDER BY t, rowid) AS session
               FROM (
                 SELECT rowid, bidder, t,
                   t - LAG(t, 1, t - 10001) OVER (PARTITION BY bidder ORDER BY t, rowid) > 10000
                     AS begins
                 FROM bid))
             GROUP BY bidder, session""",
    "q13": "SELECT auction, bidder, price, time_text(t), CAST(auction % 10000 AS TEXT) FROM bid",
    "q14": """SELECT auction, bidder, price * 908,
               CASE WHEN hour >= 8 AND hour <= 18 THEN 'dayTime'
                    WHEN hour <= 6 OR hour >= 20 THEN 'nightTime' ELSE 'otherTime' END,
               time_text(t), extra, length(extra) - length(replace(extra, 'c', ''))
             FROM (SELECT *, t / 3600000 % 24 AS hour FROM bid)
             WHERE price * 908 > 1000000000 AND price * 908 < 50000000000""",
    "q15": f"SELECT {DAY}, {DISTINCT_RANKS} FROM bid GROUP BY 1",
    "q16": f"SELECT channel, {DAY}, MAX({MINUTE}), {DISTINCT_RANKS} FROM bid GROUP BY 1, 2",
    "q17": f"""SELECT auction, {DAY}, {RANKS}, MIN(price), MAX(price), SUM(price) / COUNT(*),
               SUM(price) FROM bid GROUP BY 1, 2""",
    "q18": """SELECT auction, bidder, price, channel, url, time_text(t), extra FROM (
               SELECT *, ROW_NUMBER() OVER (
                 PARTITION BY bidder, auction ORDER BY t DESC, rowid DESC) AS place FROM bid)
             WHERE place = 1""",
    "q19": """SELECT auction, bidder, price, channel, url, time_text(t), extra, place FROM (
               SELECT *, ROW_NUMBER() OVER (
                 PARTITION BY auction ORDER BY price DESC, rowid) AS place FROM bid)
             WHERE place <= 10""",
    "q20": """SELECT B.auction, B.bidder, B.price, B.channel, B.url, time_text(B.t), B.extra,
               A.itemName, A.description, A.initialBid, A.reserve, time_text(A.t),
               time_text(A.expires), A.seller, A.category, A.extra
             FROM bid B JOIN auction A ON B.auction = A.id WHERE A.category = 10""",
    "q21": f"""SELECT auction, bidder, price, channel,
               CASE lower(channel) WHEN 'apple' THEN '0' WHEN 'google' THEN '1'
                 WHEN 'facebook' THEN '2' WHEN 'baidu' THEN '3' ELSE {CHANNEL_ID} END
             FROM bid WHERE {CHANNEL_ID} IS NOT NULL
               OR lower(channel) IN ('apple', 'google', 'facebook', 'baidu')""",
    "q22": """SELECT auction, bidder, price, channel, split_index(url, '/', 3),
               split_index(url, '/', 4), split_index(url, '/', 5) FROM bid""",
    "q23": """SELECT B.auction, B.bidder, B.price, time_text(B.t), P.name, P.city, P.state, A.id,
               A.itemName, A.category
             FROM bid B JOIN person P ON B.bidder = P.id JOIN auction A ON B.bidder = A.seller""",
}
# Prices in thousandths: sqlite3 has no decimals.
THOUSANDTHS = {"q1": 2, "q14": 2}
# Rows that are equal but for the order in which they came: only with one reader does that say which
# one is meant.
BY_ARRIVAL = {"q9", "q18", "q19"}


def expected(database, query):
    rows = database.execute(QUERIES[query])
    column = THOUSANDTHS.get(query)
    if column is None:
        return Counter(rows)
    return Counter(
        row[:column] + (Decimal(row[column]).scaleb(-3),) + row[column + 1 :] for row in rows
    )


def materialized(lines, place):
    """The table that lines of changelog-json come to. Rows that are taken back must be there."""
    out = Counter()
    for line in lines:
        change = json.loads(line, parse_float=Decimal)
        row = tuple(change["data"].values())
        if change["op"] in ("+I", "+U"):
            out[row] += 1
        else:
            out[row] -= 1
    missing = [row for row, count in out.items() if count < 0]
    if missing:
        raise ValueError(f"{place}: a row is taken back that was never there: {missing[0]}")
    return +out


def difference(got, wanted):
    """In words; empty: none."""
    extra, missing = got - wanted, wanted - got
    if not extra and not missing:
        return ""
    words = f"{sum(got.values())} rows, expected {sum(wanted.values())}"
    for what, rows in (("too many", extra), ("missing", missing)):
        if rows:
            words += f"; {what}: {sum(rows.values())}, such as {next(iter(rows))}"
    return words
