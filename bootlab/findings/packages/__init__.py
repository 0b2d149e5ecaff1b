"""What each installed package adds to a boot: whose files its processes executed, and what goes when it is removed."""
