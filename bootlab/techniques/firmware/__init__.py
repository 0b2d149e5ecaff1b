"""Techniques of what runs before the kernel on a PC: the firmware, and how it hands over."""
