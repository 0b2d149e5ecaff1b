"""What a kernel and a bootloader are built from: source, configuration by kconfig, make and its compilers."""
