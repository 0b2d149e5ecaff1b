"""Techniques that build the kernel anew with another configuration, by subject."""
