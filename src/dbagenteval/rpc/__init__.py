"""The evaluation service: the process that owns a store serves the others."""
