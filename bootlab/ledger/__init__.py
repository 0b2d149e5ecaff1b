"""Is it still as fast: what a system took at each commit, in files that a repository keeps."""
