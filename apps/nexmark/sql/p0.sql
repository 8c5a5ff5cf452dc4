-- p0: where the bids of a bidder for an auction fall, and rise again.
CREATE TABLE nexmark_p0 (
  auction BIGINT,
  bidder BIGINT,
  start_time TIMESTAMP(3),
  bottom_price BIGINT,
  end_time TIMESTAMP(3)
) WITH (
  ${SINK}
);

INSERT INTO nexmark_p0
SELECT auction, bidder, start_time, bottom_price, end_time
FROM bid
MATCH_RECOGNIZE (
  PARTITION BY auction, bidder
  ORDER BY `dateTime`
  MEASURES
    FIRST(DOWN.`dateTime`) AS start_time,
    LAST(DOWN.price) AS bottom_price,
    LAST(UP.`dateTime`) AS end_time
  ONE ROW PER MATCH
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (FIRST_BID DOWN+ UP)
  DEFINE
    DOWN AS DOWN.price < LAST(DOWN.price, 1) OR (LAST(DOWN.price, 1) IS NULL AND DOWN.price < FIRST_BID.price),
    UP AS UP.price > LAST(DOWN.price, 1)
);
