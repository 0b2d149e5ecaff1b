"""A profile, shown: flame graph and chart, tables, waits and advice, on the terminal and as a page."""
