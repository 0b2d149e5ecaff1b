"""Techniques of the root file system: how it is packed, what is in it, where it lies."""
