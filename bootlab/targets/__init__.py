"""Where a system boots."""
