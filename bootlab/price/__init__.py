"""What a boot costs under KVM: which of the things that it does leave the guest, and what a host takes for each."""
