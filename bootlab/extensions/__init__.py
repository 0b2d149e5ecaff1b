"""What strangers add without touching the package: where it lies, how it is imported, and what of it is broken."""
