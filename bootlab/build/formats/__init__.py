"""File formats that images are written in: archives, file systems and compressions, the same bytes every time."""
