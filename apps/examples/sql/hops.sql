-- What was ordered in the last two minutes, told each minute.
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

SELECT window_start, window_end, item, SUM(amount) AS amount
FROM TABLE(HOP(TABLE orders, DESCRIPTOR(rt), INTERVAL '1' MINUTE, INTERVAL '2' MINUTES))
WHERE item = 'tea'
GROUP BY item, window_start, window_end
ORDER BY window_start;
