INSERT INTO span_links SELECT * EXCLUDE (row) FROM incoming_span_links;
