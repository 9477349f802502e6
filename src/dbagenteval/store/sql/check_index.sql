-- Traces whose index doesn't say how many spans they have.
SELECT count(*)
FROM (SELECT trace_id, sum(span_count) AS n FROM trace_index GROUP BY trace_id HAVING n > 0) AS indexed
FULL JOIN (SELECT trace_id, count(*) AS n FROM spans GROUP BY trace_id) AS counted USING (trace_id)
WHERE indexed.n IS DISTINCT FROM counted.n;
