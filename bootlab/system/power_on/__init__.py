"""What a machine finds as it is switched on, and what wakes one that sleeps."""
