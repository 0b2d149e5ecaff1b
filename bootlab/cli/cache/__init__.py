"""`bootlab cache`: what was downloaded and built, kind by kind, and what of it may go."""
