"""Cloud Hypervisor as a target: a machine of its own on this host's KVM."""
