"""Firecracker as a target: a microVM of its own on this host's KVM."""
