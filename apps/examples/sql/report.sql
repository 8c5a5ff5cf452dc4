-- What each customer has ordered, by way of a view; the settings hold for the jobs below them.
SET 'parallelism.default' = '2';

CREATE TABLE orders (id BIGINT, customer STRING, item STRING, amount INT, price DECIMAL(6, 2), rt TIMESTAMP(3))
WITH ('connector' = 'filesystem', 'path' = 'apps/examples/sql/data/orders.csv',
      'format' = 'csv', 'csv.null-literal' = '');

CREATE VIEW sales AS
  SELECT COALESCE(customer, 'unknown') AS customer, item, amount, amount * price AS total FROM orders;

DESCRIBE sales;

SELECT customer, COUNT(*) AS orders, SUM(amount) AS pieces, SUM(total) AS total,
       COUNT(DISTINCT item) AS items, MAX(total) FILTER (WHERE item <> 'tea') AS dearest
FROM sales
GROUP BY customer
HAVING SUM(total) > 4
ORDER BY total DESC, customer;
