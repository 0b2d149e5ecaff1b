"""What the host of a virtual machine says: what VMMs log, count and time, QEMU's marks, an EC2 instance's start."""
