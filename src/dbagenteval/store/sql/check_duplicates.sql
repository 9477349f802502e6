-- Spans that are stored more than once.
SELECT count(*) - count(DISTINCT (trace_id, span_id)) FROM spans;
