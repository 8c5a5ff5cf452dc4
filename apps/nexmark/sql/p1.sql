-- p1: how long the bids of a bidder for an auction stay low on average; then on behind their last.
CREATE TABLE nexmark_p1 (
  auction BIGINT,
  bidder BIGINT,
  start_time TIMESTAMP(3),
  end_time TIMESTAMP(3),
  avg_price BIGINT
) WITH (
  ${SINK}
);

INSERT INTO nexmark_p1
SELECT auction, bidder, start_time, end_time, avg_price
FROM bid
MATCH_RECOGNIZE (
  PARTITION BY auction, bidder
  ORDER BY `dateTime`
  MEASURES
    FIRST(A.`dateTime`) AS start_time,
    LAST(A.`dateTime`) AS end_time,
    AVG(A.price) AS avg_price
  ONE ROW PER MATCH
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (A+ B)
  DEFINE
    A AS AVG(A.price) < 10000
);
