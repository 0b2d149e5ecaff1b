"""A compression study, shown: terminal, page and CSV."""
