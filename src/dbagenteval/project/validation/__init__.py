"""The files of a project against each other and the real schema: every fault at once."""
