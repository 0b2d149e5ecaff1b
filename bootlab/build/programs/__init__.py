"""Programs for the guest: bootlab's own, and the user's from their source."""
