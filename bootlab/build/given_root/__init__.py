"""Roots as they are handed over: a folder, a tar archive, a container image: what is in one, and the system it is."""
