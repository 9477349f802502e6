-- Of batches of which no log record is left: exporters try again for minutes, not for days.
DELETE FROM log_requests
WHERE batch < coalesce((SELECT min(batch) FROM logs), (SELECT value FROM meta WHERE key = 'batch'));
