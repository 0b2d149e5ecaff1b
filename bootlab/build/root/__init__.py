"""What the kernel finds as its first files: an initramfs or a root file system, put together from a recipe."""
