"""What a guest says of itself: its console and marks, its clock, its answers over TCP."""
