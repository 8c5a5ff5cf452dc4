-- Prices of five stocks at the first of each month: the best month of each, and how the last price
-- compares with the mean of a year. The file has one stock behind the other, so that each may still
-- come with its first day: the watermark waits for more than the ten years that there are.
CREATE TABLE prices (
  symbol STRING,
  `date` STRING,
  price DOUBLE,
  day_of AS TO_TIMESTAMP(`date`, 'MMM d yyyy'),
  WATERMARK FOR day_of AS day_of - INTERVAL '4100' DAY(4)
) WITH (
  'connector' = 'filesystem',
  'path' = '.cache/open-data/stocks.csv',
  'format' = 'csv',
  'csv.ignore-first-line' = 'true'
);

CREATE VIEW changes AS
SELECT symbol, day_of, price,
       price / LAG(price) OVER (PARTITION BY symbol ORDER BY day_of) - 1 AS change,
       AVG(price) OVER (PARTITION BY symbol ORDER BY day_of ROWS BETWEEN 11 PRECEDING AND CURRENT ROW) AS mean
FROM prices;

SELECT symbol, DATE_FORMAT(day_of, 'yyyy-MM') AS `month`, price, ROUND(100 * change, 1) AS rise_in_percent
FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY symbol ORDER BY change DESC) AS place
  FROM changes
  WHERE change IS NOT NULL
)
WHERE place = 1
ORDER BY rise_in_percent DESC;

SELECT symbol, price, ROUND(mean, 2) AS mean_of_a_year
FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY symbol ORDER BY day_of DESC) AS place
  FROM changes
)
WHERE place = 1
ORDER BY symbol;
