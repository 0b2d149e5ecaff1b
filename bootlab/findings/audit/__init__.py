"""What a distribution's boot did for nothing: modules, udev events, services, and the kernel's own work."""
