"""What is booted: packages, kernel images, initramfs, disks, guest programs, and the cache that keeps them."""
