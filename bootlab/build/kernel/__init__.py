"""A kernel: built from source, and what its image, objects, calls and types say of it."""
