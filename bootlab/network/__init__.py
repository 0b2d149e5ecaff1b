"""What answers the guest: a small network of its own, whose packets come at stated times, whatever the host does."""
