"""A SQL text and its queries, read once: what rules look at."""
