"""What a series of boot times shows, and how well a few boots know their median."""
