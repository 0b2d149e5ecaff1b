"""How verbs speak: results on stdout, progress on stderr, and the files and pages that they write."""
