"""Debian's packages: where this machine gets them, which ones a name means, and a root made of them."""
