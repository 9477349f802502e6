INSERT INTO spans
SELECT
    incoming_spans.* EXCLUDE (row),
    coalesce(
        attr_values[list_position(attr_keys, 'session.id')],
        attr_values[list_position(attr_keys, 'gen_ai.conversation.id')]
    ) AS session,
    attr_values[list_position(attr_keys, 'tenant.id')] AS tenant,
    attr_values[list_position(attr_keys, 'dbagenteval.case.id')] AS case_id,
    attr_values[list_position(attr_keys, 'dbagenteval.stage')] AS stage,
    coalesce(
        attr_values[list_position(attr_keys, 'gen_ai.request.model')],
        attr_values[list_position(attr_keys, 'gen_ai.response.model')]
    ) AS model,
    $batch AS batch
FROM incoming_spans;
