-- What was ordered in each minute: a window is shown once, when the watermark has passed its end.
CREATE TABLE orders (
  id BIGINT,
  customer STRING,
  item STRING,
  amount INT,
  price DECIMAL(6, 2),
  rt TIMESTAMP(3),
  WATERMARK FOR rt AS rt - INTERVAL '10' SECONDS
) WITH (
  'connector' = 'filesystem',
  'path' = 'apps/examples/sql/data/orders.csv',
  'format' = 'csv',
  'csv.null-literal' = ''
);

SELECT window_start, COUNT(*) AS orders, SUM(amount * price) AS total
FROM TUMBLE(TABLE orders, DESCRIPTOR(rt), INTERVAL '1' MINUTE)
GROUP BY window_start, window_end
ORDER BY window_start;
