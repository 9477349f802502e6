INSERT INTO log_requests SELECT unnest($digests), $batch;
