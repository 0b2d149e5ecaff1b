"""Techniques of the initramfs: how it is packed, what is in it, where it lies."""
