"""Semantic conventions, one file each: which attributes say what, as of which version."""
