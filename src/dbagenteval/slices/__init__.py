"""The smallest data that shows a failure: a few rows of a few tables as a SQL script."""
