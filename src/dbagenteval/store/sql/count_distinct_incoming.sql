SELECT count(*) FROM (SELECT DISTINCT trace_id, span_id FROM incoming_spans);
