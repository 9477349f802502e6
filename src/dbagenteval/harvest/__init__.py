"""Logged failures become cases: drafts, proposed references, review."""
