"""What a host of KVM takes for each exit and page: timed by a guest of ours, and written as a host model."""
