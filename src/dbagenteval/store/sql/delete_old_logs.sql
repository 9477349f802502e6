DELETE FROM logs
WHERE trace_id IN (SELECT trace_id FROM old_traces) OR (NOT is_attached AND at_ns < $before_ns);
