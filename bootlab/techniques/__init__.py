"""What could help: one table of techniques a subject and layer, the catalogue that checks them, and its page."""
