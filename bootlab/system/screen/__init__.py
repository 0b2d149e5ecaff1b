"""The guest's screen and keyboard: which marks are seen on the one, and what is typed on the other."""
