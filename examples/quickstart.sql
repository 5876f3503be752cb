-- A tour of gpusql, from the root of the project:
--
--     go run ./cmd/gpusql -f examples/quickstart.sql

-- A file is a table. This one ships with the project: moons of the solar
-- system, their radius in km, their month in days, and when they were found.
SELECT count(*) AS moons, count(discovered) AS dated, min(discovered) AS first, max(discovered) AS last
FROM 'examples/moons.parquet';

CREATE TABLE moons AS SELECT * FROM 'examples/moons.parquet';

-- An ordered index serves ranges and lookups.
CREATE INDEX moons_discovered ON moons (discovered);

CREATE TABLE planets (
    name      VARCHAR PRIMARY KEY,
    au        DECIMAL(5,2) NOT NULL,   -- from the sun; the earth is at 1
    radius_km INTEGER NOT NULL CHECK (radius_km > 0)
);
INSERT INTO planets VALUES
    ('Mercury', 0.39, 2440), ('Venus', 0.72, 6052), ('Earth', 1.00, 6371), ('Mars', 1.52, 3390),
    ('Jupiter', 5.20, 69911), ('Saturn', 9.58, 58232), ('Uranus', 19.22, 25362), ('Neptune', 30.05, 24622),
    ('Vulcan', 0.21, 1000);

-- Vulcan, which was to explain how Mercury moves, is not there.
DELETE FROM planets WHERE name = 'Vulcan';

-- A range scan: what the telescopes of the nineteenth century found.
SELECT discovered, name, planet, discoverer
FROM moons
WHERE discovered BETWEEN 1801 AND 1900
ORDER BY discovered, name;

-- A join and groups, planets without moons included.
SELECT p.name AS planet, p.au, count(m.name) AS moons,
       round(100 * max(m.radius_km) / p.radius_km, 1) AS largest_in_percent
FROM planets p LEFT JOIN moons m ON m.planet = p.name
GROUP BY p.name, p.au, p.radius_km
ORDER BY p.au;

-- Kepler's third law: the cube of the distance over the square of the period
-- is the same for all moons of a planet, so the period alone tells distances.
SELECT name, round(power(period_days / 1.769, 2.0 / 3), 2) AS distance_in_io
FROM moons
WHERE planet = 'Jupiter' AND radius_km > 1000
ORDER BY period_days;

-- How the engine goes about it.
EXPLAIN SELECT m.name, p.au
FROM moons m JOIN planets p ON p.name = m.planet
WHERE m.discovered BETWEEN 1780 AND 1790;
