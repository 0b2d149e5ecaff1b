"""Kernel modules: what a package has, which devices they are for, and the plan by which a guest loads them."""
