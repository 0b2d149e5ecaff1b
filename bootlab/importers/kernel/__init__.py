"""What a Linux kernel says of its own boot: its log in all its forms, early marks, ftrace."""
