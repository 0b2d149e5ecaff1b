"""Forms that images are read and written in: archives, file systems, compressions, tables; the same bytes each time."""
