-- Filters and computes over a CSV file; the rows are shown at the end.
CREATE TABLE orders (
  id BIGINT,
  customer STRING,
  item STRING,
  amount INT,
  price DECIMAL(6, 2),
  rt TIMESTAMP(3),
  total AS amount * price
) WITH (
  'connector' = 'filesystem',
  'path' = 'apps/examples/sql/data/orders.csv',
  'format' = 'csv',
  'csv.null-literal' = ''
);

SELECT id, UPPER(customer) AS customer, item, total,
       CASE WHEN amount >= 6 THEN 'large' ELSE 'small' END AS size
FROM orders
WHERE customer IS NOT NULL AND total > 5
ORDER BY total DESC, id;
