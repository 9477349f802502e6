-- The first of each incoming span that isn't stored yet; the parameters bound where to look.
SELECT min(row)
FROM incoming_spans AS incoming
WHERE NOT EXISTS (
    FROM spans AS stored
    WHERE stored.batch BETWEEN $first_batch AND $last_batch
        AND stored.start_ns BETWEEN $first AND $last
        AND stored.trace_id = incoming.trace_id
        AND stored.span_id = incoming.span_id
)
GROUP BY trace_id, span_id;
