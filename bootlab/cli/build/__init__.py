"""`bootlab build`: a kernel, a bootloader, an initramfs or a root file system, made from source and packages."""
