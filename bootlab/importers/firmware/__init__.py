"""What ran before the kernel, as it says itself: U-Boot, coreboot, ACPI's table, Qualcomm's loaders."""
