-- p3: where the price of a bidder for an auction falls within 5 seconds.
CREATE TABLE nexmark_p3 (
  auction BIGINT,
  bidder BIGINT,
  drop_time TIMESTAMP(3),
  drop_diff BIGINT
) WITH (
  ${SINK}
);

INSERT INTO nexmark_p3
SELECT auction, bidder, drop_time, drop_diff
FROM bid
MATCH_RECOGNIZE (
  PARTITION BY auction, bidder
  ORDER BY `dateTime`
  MEASURES
    C.`dateTime` AS drop_time,
    A.price - C.price AS drop_diff
  ONE ROW PER MATCH
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (A B* C) WITHIN INTERVAL '5' SECOND
  DEFINE
    B AS B.price > A.price - 500,
    C AS C.price < A.price
);
