"""Disk images: what is in one, found without mounting it, and images made of packages, without a loop device."""
