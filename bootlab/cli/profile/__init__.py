"""`bootlab profile`: where the time of one boot went, and what other verbs need of profiled boots."""
