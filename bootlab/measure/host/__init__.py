"""What this host is and can do: its tools, deadlines on it, and facts that a measured time depends on."""
