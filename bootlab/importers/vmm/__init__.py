"""What the host of a virtual machine says: Firecracker's log and metrics, Cloud Hypervisor's events, QEMU's marks, an EC2 instance's start."""
