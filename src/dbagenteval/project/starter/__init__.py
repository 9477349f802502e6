"""A first project, drafted from a database."""
