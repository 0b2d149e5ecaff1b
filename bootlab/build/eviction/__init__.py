"""What the cache holds, what of it nobody has used for long, and its removal."""
