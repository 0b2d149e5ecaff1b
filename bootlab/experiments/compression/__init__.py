"""Which compression of kernel and initramfs is best for which speed of storage."""
