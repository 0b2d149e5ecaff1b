"""What the boot executed, as a call tree: what each node cost, in one boot or in two laid over each other."""
