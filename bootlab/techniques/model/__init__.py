"""What a technique is, how boots prove it, and the catalogue that refuses an incomplete one."""
