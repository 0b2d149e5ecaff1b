"""Text or binary recordings to a timeline: one format per file."""
