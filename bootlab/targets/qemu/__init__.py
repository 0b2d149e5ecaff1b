"""QEMU as a target: its command line, its process, what its plugin is told, and what it needs of this host."""
