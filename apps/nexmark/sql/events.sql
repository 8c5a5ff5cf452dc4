-- The events as they come: one of person, auction and bid, the others NULL.
CREATE TABLE nexmark (
  event_type INT,
  person ROW<
    id BIGINT,
    name STRING,
    emailAddress STRING,
    creditCard STRING,
    city STRING,
    state STRING,
    `dateTime` TIMESTAMP(3),
    extra STRING>,
  auction ROW<
    id BIGINT,
    itemName STRING,
    description STRING,
    initialBid BIGINT,
    reserve BIGINT,
    `dateTime` TIMESTAMP(3),
    expires TIMESTAMP(3),
    seller BIGINT,
    category BIGINT,
    extra STRING>,
  bid ROW<
    auction BIGINT,
    bidder BIGINT,
    price BIGINT,
    channel STRING,
    url STRING,
    `dateTime` TIMESTAMP(3),
    extra STRING>,
  `dateTime` AS
    CASE
      WHEN event_type = 0 THEN person.`dateTime`
      WHEN event_type = 1 THEN auction.`dateTime`
      ELSE bid.`dateTime`
    END,
  WATERMARK FOR `dateTime` AS `dateTime` - INTERVAL '4' SECOND
) WITH (
${SOURCE}
);

CREATE VIEW person AS
SELECT
  person.id,
  person.name,
  person.emailAddress,
  person.creditCard,
  person.city,
  person.state,
  `dateTime`,
  person.extra
FROM nexmark
WHERE event_type = 0;

CREATE VIEW auction AS
SELECT
  auction.id,
  auction.itemName,
  auction.description,
  auction.initialBid,
  auction.reserve,
  `dateTime`,
  auction.expires,
  auction.seller,
  auction.category,
  auction.extra
FROM nexmark
WHERE event_type = 1;

CREATE VIEW bid AS
SELECT
  bid.auction,
  bid.bidder,
  bid.price,
  bid.channel,
  bid.url,
  `dateTime`,
  bid.extra
FROM nexmark
WHERE event_type = 2;
