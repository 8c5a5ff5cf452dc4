-- The same flights in event time: the worst airport of each week, by hours lost.
CREATE TABLE flights (
  `date` STRING,
  delay INT,
  origin STRING,
  departure AS TO_TIMESTAMP(`date`, 'yyyy/MM/dd HH:mm'),
  WATERMARK FOR departure AS departure - INTERVAL '1' DAY
) WITH (
  'connector' = 'filesystem',
  'path' = '.cache/open-data/flights-20k.json',
  'format' = 'json'
);

SELECT week, origin, flights, hours_lost
FROM (
  SELECT DATE_FORMAT(window_start, 'yyyy-MM-dd') AS week, origin, flights, hours_lost,
         ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY hours_lost DESC, origin) AS place
  FROM (
    SELECT window_start, window_end, origin, COUNT(*) AS flights,
           CAST(SUM(GREATEST(delay, 0)) / 60.0 AS DECIMAL(8, 1)) AS hours_lost
    FROM TUMBLE(TABLE flights, DESCRIPTOR(departure), INTERVAL '7' DAY)
    GROUP BY window_start, window_end, origin
  )
)
WHERE place = 1
ORDER BY week;
