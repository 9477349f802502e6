"""Runs of answer tests: attempts, results files, what is made of them."""
