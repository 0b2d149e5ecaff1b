"""What a kernel, a bootloader and firmware are built from: source, configuration by kconfig, make and its compilers."""
