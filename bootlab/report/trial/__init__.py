"""A trial, shown: verdicts, the ladder of its stacks, sizes and raw boots."""
