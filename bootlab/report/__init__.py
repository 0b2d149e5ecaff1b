"""Show it: terminal tables and one self-contained HTML page."""
