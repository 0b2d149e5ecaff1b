"""Techniques of the emulated machine: its chipset, CPUs and memory."""
