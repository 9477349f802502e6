-- Traces of which everything happened before $before_ns; a trace goes as a whole or not at all.
CREATE OR REPLACE TEMP TABLE old_traces AS
SELECT trace_id
FROM trace_index
GROUP BY trace_id
HAVING max(greatest(coalesce(last_end_ns, 0), coalesce(last_start_ns, 0), coalesce(last_log_ns, 0))) < $before_ns;
