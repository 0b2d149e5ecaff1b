"""Gate: has a system become longer by more than it may, and what can be told at all."""
