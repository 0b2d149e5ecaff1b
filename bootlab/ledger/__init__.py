"""Does it still take as long: what a system took at each commit, in files that a repository keeps."""
