-- Events and links whose span is missing.
SELECT
    (SELECT count(*) FROM span_events AS part ANTI JOIN spans USING (trace_id, span_id))
    + (SELECT count(*) FROM span_links AS part ANTI JOIN spans USING (trace_id, span_id));
