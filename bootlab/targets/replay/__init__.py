"""Boots on record as a target: they answer again in milliseconds, as they were or as a script changes them."""
