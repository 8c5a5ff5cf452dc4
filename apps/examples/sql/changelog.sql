-- Sums that change with each order go into files of changes, one object a line; read back, they come to
-- the sums as they are in the end.
CREATE TABLE orders (
  id BIGINT,
  customer STRING,
  item STRING,
  amount INT,
  price DECIMAL(6, 2),
  rt TIMESTAMP(3)
) WITH (
  'connector' = 'filesystem',
  'path' = 'apps/examples/sql/data/orders.csv',
  'format' = 'csv',
  'csv.null-literal' = ''
);
CREATE TABLE sold (
  item STRING,
  amount INT,
  dearest DECIMAL(6, 2)
) WITH (
  'connector' = 'filesystem',
  'path' = '/tmp/headrace-example-sold',
  'format' = 'changelog-json'
);

INSERT INTO sold SELECT item, SUM(amount), MAX(price) FROM orders GROUP BY item;

SELECT * FROM sold WHERE amount > 3 ORDER BY amount DESC;
