"""What happened in a boot: marks, spans and phases on named clocks. Pure values."""
