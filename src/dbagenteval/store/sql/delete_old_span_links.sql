DELETE FROM span_links WHERE trace_id IN (SELECT trace_id FROM old_traces);
