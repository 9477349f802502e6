DELETE FROM span_events WHERE trace_id IN (SELECT trace_id FROM old_traces);
