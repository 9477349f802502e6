INSERT INTO span_links SELECT * EXCLUDE (row), $batch AS batch FROM incoming_span_links;
