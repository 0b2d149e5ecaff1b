"""UEFI firmware for disk images: that of Debian's packages, or OVMF built from its source."""
