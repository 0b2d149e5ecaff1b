"""QEMU as a target: its command line and its process."""
