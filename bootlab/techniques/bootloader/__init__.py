"""Techniques of a board's bootloader."""
