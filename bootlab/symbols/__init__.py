"""What is at an address: the symbols and types that a kernel or a program carries."""
