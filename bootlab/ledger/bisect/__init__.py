"""Bisection: which commits changed the boot time between two of them."""
