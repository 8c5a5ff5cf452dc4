-- A directory for each customer; then those of one are written anew.
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
CREATE TABLE by_customer (
  item STRING,
  amount INT,
  customer STRING
) PARTITIONED BY (customer) WITH (
  'connector' = 'filesystem',
  'path' = '/tmp/headrace-example-partitions',
  'format' = 'json'
);

INSERT INTO by_customer SELECT item, amount, customer FROM orders WHERE customer IS NOT NULL;

INSERT OVERWRITE by_customer PARTITION (customer = 'ann') VALUES ('everything', 1);

SELECT customer, COUNT(*) AS orders, MAX(item) AS item FROM by_customer
GROUP BY customer
ORDER BY customer;
