"""What failed scorecards have in common: structure and edit of the SQL, blame, clusters."""
