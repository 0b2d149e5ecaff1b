"""`bootlab runs`: recorded runs as files, and what of them may go."""
