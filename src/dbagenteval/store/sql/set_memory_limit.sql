-- How much the database may hold in memory; {bytes} is a number.
SET memory_limit = '{bytes}B';
