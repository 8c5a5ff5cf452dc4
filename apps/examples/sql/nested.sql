-- Rows inside of rows, and arrays: of JSON only the fields that are named here are decoded.
CREATE TABLE readings (
  `at` TIMESTAMP(3),
  station ROW<name STRING, place ROW<river STRING, km DOUBLE>>,
  levels ARRAY<DOUBLE>,
  note STRING
) WITH (
  'connector' = 'filesystem',
  'path' = 'apps/examples/sql/data/readings.json',
  'format' = 'json'
);

SELECT COALESCE(station.name, '?') AS station, station.place.river AS river,
       CARDINALITY(levels) AS times, ARRAY_MAX(levels) AS highest
FROM readings
ORDER BY station, times;
