-- Customers with what they have ordered, also those without orders; then the dearest order of each.
CREATE TABLE orders (id BIGINT, customer STRING, item STRING, amount INT, price DECIMAL(6, 2), rt TIMESTAMP(3))
WITH ('connector' = 'filesystem', 'path' = 'apps/examples/sql/data/orders.csv',
      'format' = 'csv', 'csv.null-literal' = '');

CREATE TABLE customers (name STRING, city STRING)
WITH ('connector' = 'filesystem', 'path' = 'apps/examples/sql/data/customers.csv', 'format' = 'csv');

SELECT c.name, c.city, COUNT(o.id) AS orders, SUM(o.amount * o.price) AS total
FROM customers c
LEFT JOIN orders o ON o.customer = c.name
GROUP BY c.name, c.city
ORDER BY name;

SELECT o.id, o.customer, o.item
FROM orders o
WHERE o.amount * o.price = (SELECT MAX(i.amount * i.price) FROM orders i WHERE i.customer = o.customer)
ORDER BY id;
