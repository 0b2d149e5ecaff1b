"""Techniques of what is started before the system's own program."""
