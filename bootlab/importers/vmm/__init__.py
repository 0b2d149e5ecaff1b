"""What the host of a virtual machine says: Firecracker's log and metrics, an EC2 instance's start."""
