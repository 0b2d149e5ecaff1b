"""A rented machine: ordered for each boot, asked from outside, and ended whatever happens"""
