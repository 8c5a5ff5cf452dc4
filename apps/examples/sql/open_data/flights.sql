-- Flights in the USA of early 2001: where departures are latest, with the airport's place.
CREATE TABLE flights (
  `date` STRING,
  delay INT,
  distance INT,
  origin STRING,
  destination STRING
) WITH (
  'connector' = 'filesystem',
  'path' = '.cache/open-data/flights-20k.json',
  'format' = 'json'
);

CREATE TABLE airports (
  iata STRING, name STRING, city STRING, state STRING, country STRING, latitude DOUBLE, longitude DOUBLE
) WITH (
  'connector' = 'filesystem',
  'path' = '.cache/open-data/airports.csv',
  'format' = 'csv',
  'csv.ignore-first-line' = 'true'
);

SELECT a.city, a.state, f.flights, f.late, f.mean_delay
FROM (
  SELECT origin, COUNT(*) AS flights, COUNT(*) FILTER (WHERE delay > 15) AS late,
         CAST(AVG(CAST(delay AS DECIMAL(8, 2))) AS DECIMAL(8, 2)) AS mean_delay
  FROM flights
  GROUP BY origin
  HAVING COUNT(*) >= 200
) f
JOIN airports a ON a.iata = f.origin
ORDER BY mean_delay DESC
LIMIT 8;
