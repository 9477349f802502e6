-- How much the database may hold in memory at present.
SELECT current_setting('memory_limit');
