-- Films: what they took by genre and in all, and who directed the three best rated of each decade.
CREATE TABLE movies (
  Title STRING,
  `Worldwide Gross` BIGINT,
  `Production Budget` BIGINT,
  `Release Date` STRING,
  `Major Genre` STRING,
  Director STRING,
  `IMDB Rating` DOUBLE,
  `IMDB Votes` BIGINT,
  released AS TO_DATE(`Release Date`, 'MMM dd yyyy')
) WITH (
  'connector' = 'filesystem',
  'path' = '.cache/open-data/movies.json',
  'format' = 'json'
);

SELECT COALESCE(`Major Genre`, 'all') AS genre, COUNT(*) AS films,
       SUM(`Worldwide Gross`) / 1000000 AS million_taken,
       CAST(SUM(`Worldwide Gross`) * 1.0 / SUM(`Production Budget`) AS DECIMAL(6, 2)) AS taken_for_each_spent
FROM movies
WHERE `Major Genre` IS NOT NULL AND `Production Budget` > 0
GROUP BY ROLLUP (`Major Genre`)
HAVING COUNT(*) >= 200
ORDER BY films DESC;

SELECT decade, place, Title AS film, Director AS director, `IMDB Rating` AS rating
FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY decade ORDER BY `IMDB Rating` DESC, `IMDB Votes` DESC) AS place
  FROM (SELECT *, YEAR(released) / 10 * 10 AS decade FROM movies)
  WHERE `IMDB Votes` >= 50000 AND decade BETWEEN 1970 AND 2000
)
WHERE place <= 2
ORDER BY decade, place;
