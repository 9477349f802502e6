INSERT INTO span_events SELECT * EXCLUDE (row) FROM incoming_span_events;
