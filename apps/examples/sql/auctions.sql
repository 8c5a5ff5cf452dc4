-- The events of the Nexmark benchmark, made as they are read: bids of each five seconds, by price.
CREATE TABLE nexmark (
  event_type INT,
  person ROW<`dateTime` TIMESTAMP(3)>,
  auction ROW<`dateTime` TIMESTAMP(3)>,
  bid ROW<auction BIGINT, bidder BIGINT, price BIGINT, `dateTime` TIMESTAMP(3)>,
  rt AS COALESCE(bid.`dateTime`, auction.`dateTime`, person.`dateTime`),
  WATERMARK FOR rt AS rt
) WITH (
  'connector' = 'nexmark',
  'events.num' = '20000',
  'first-event.rate' = '1000'
);
CREATE VIEW bids AS SELECT bid.price AS price, bid.auction AS auction, rt FROM nexmark
WHERE event_type = 2;

SELECT window_start, COUNT(*) AS bids,
       COUNT(*) FILTER (WHERE price >= 1000000) AS high, MAX(price) AS highest
FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(rt), INTERVAL '5' SECONDS))
GROUP BY window_start, window_end
ORDER BY window_start;
