-- q23: bids with the person who bids, and with that person's own auctions.
CREATE TABLE nexmark_q23 (
  auction BIGINT,
  bidder BIGINT,
  price BIGINT,
  `dateTime` TIMESTAMP(3),
  name STRING,
  city STRING,
  state STRING,
  own_auction BIGINT,
  own_item STRING,
  own_category BIGINT
) WITH (
  ${SINK}
);

INSERT INTO nexmark_q23
SELECT
  B.auction, B.bidder, B.price, B.`dateTime`, P.name, P.city, P.state, A.id, A.itemName, A.category
FROM bid AS B
INNER JOIN person AS P ON B.bidder = P.id
INNER JOIN auction AS A ON B.bidder = A.seller;
