"""What could help: one file for each technique, `<layer>_<what>.py`, and the catalogue that checks them."""
