-- Seattle's weather, a line a day: what each year was like, and its two wettest days.
CREATE TABLE weather (
  `date` DATE,
  precipitation DOUBLE,
  temp_max DOUBLE,
  temp_min DOUBLE,
  wind DOUBLE,
  weather STRING
) WITH (
  'connector' = 'filesystem',
  'path' = '.cache/open-data/seattle-weather.csv',
  'format' = 'csv',
  'csv.ignore-first-line' = 'true'
);

SELECT YEAR(`date`) AS `year`,
       COUNT(*) FILTER (WHERE weather = 'sun') AS sunny,
       COUNT(*) FILTER (WHERE weather IN ('rain', 'drizzle')) AS rainy,
       COUNT(*) FILTER (WHERE weather = 'snow') AS snowy,
       CAST(SUM(precipitation) AS DECIMAL(8, 1)) AS mm,
       MAX(temp_max) AS hottest,
       MIN(temp_min) AS coldest
FROM weather
GROUP BY YEAR(`date`)
ORDER BY `year`;

SELECT `date`, precipitation, weather
FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY YEAR(`date`) ORDER BY precipitation DESC) AS place
  FROM weather
)
WHERE place <= 2
ORDER BY `date`;
