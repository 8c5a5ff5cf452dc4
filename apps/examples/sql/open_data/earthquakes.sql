-- A week of earthquakes as GeoJSON: the strongest, and swarms: at least 15 quakes of one region with
-- less than two hours between neighbours.
CREATE TABLE quakes (
  properties ROW<mag DOUBLE, place STRING, `time` BIGINT, tsunami INT>,
  geometry ROW<coordinates ARRAY<DOUBLE>>,
  happened AS TO_TIMESTAMP_LTZ(properties.`time`, 3),
  region AS REGEXP_EXTRACT(properties.place, '([^,]+)$', 1),
  WATERMARK FOR happened AS happened - INTERVAL '8' DAY
) WITH (
  'connector' = 'filesystem',
  'path' = '.cache/open-data/earthquakes.json',
  'format' = 'json'
);

SET 'table.local-time-zone' = 'UTC';

SELECT properties.mag AS magnitude, properties.place AS place, geometry.coordinates[3] AS depth_km,
       DATE_FORMAT(happened, 'yyyy-MM-dd HH:mm') AS at_utc
FROM quakes
ORDER BY magnitude DESC, place
LIMIT 5;

SELECT TRIM(region) AS region, COUNT(*) AS quakes, MAX(properties.mag) AS strongest,
       DATE_FORMAT(window_start, 'MM-dd HH:mm') AS first_one,
       TIMESTAMPDIFF(HOUR, window_start, window_end) AS hours
FROM SESSION(TABLE quakes PARTITION BY region, DESCRIPTOR(happened), INTERVAL '2' HOURS)
GROUP BY window_start, window_end, region
HAVING COUNT(*) >= 15
ORDER BY quakes DESC, region
LIMIT 8;
