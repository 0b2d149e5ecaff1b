"""Techniques of the system's own program."""
