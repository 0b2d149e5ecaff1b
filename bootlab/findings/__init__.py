"""What one boot shows: its profile analysed, what costs what, which files and modules it had no use for."""
