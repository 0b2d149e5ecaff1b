"""A sweep, shown: terminal, page and CSV."""
