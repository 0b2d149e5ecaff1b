"""A profile in the formats of other tools: one format a file."""
