"""What this host is and can do: its tools, KVM, huge pages, and facts that a measured time depends on."""
