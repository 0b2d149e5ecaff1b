"""A recording that another tool made, or two side by side, shown like a boot of our own."""
