"""Whether a query's rows are of one tenant, by its text or by running it."""
