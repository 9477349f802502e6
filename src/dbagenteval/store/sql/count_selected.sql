SELECT count(*), coalesce(sum(row_count), 0)::BIGINT FROM selected_traces;
