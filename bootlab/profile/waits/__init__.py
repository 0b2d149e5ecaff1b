"""What the boot waited for: who slept on what, who woke them, and the chain of waits behind a moment."""
