"""What a board boots from: its bootloader, its card or flash chip, and its device tree."""
