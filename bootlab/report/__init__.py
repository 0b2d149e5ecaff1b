"""Show it: terminal tables and one self-contained HTML page for each kind of result."""
