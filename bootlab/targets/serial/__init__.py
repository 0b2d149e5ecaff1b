"""A real board on a serial line as a target."""
