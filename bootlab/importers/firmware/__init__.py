"""What ran before the kernel, as it says itself: U-Boot, coreboot, Qualcomm's loaders."""
