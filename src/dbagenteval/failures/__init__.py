"""Failed scorecards explained: what the SQL did, what is to blame, which failures belong together."""
