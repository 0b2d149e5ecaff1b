"""Arguments that several verbs share: their help, their completion, and how lists and sizes are read."""
