"""An agent's reply against its answer test: rows, outcome and assertions give a verdict."""
