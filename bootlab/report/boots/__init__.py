"""Boots, series and comparisons, shown on the terminal and as pages."""
