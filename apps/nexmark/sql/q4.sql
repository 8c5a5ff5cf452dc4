-- q4: the average of the winning bids of each category.
CREATE TABLE nexmark_q4 (
  category BIGINT,
  final BIGINT
) WITH (
  ${SINK}
);

INSERT INTO nexmark_q4
SELECT Q.category, AVG(Q.final)
FROM (
  SELECT MAX(B.price) AS final, A.category
  FROM auction AS A, bid AS B
  WHERE A.id = B.auction AND B.`dateTime` BETWEEN A.`dateTime` AND A.expires
  GROUP BY A.id, A.category
) AS Q
GROUP BY Q.category;
