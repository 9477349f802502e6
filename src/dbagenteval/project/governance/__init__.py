"""Governance cases and captured answers against the policy; how ready a project is."""
