INSERT INTO span_events SELECT * EXCLUDE (row), $batch AS batch FROM incoming_span_events;
