"""What the plugin is told before a boot: its marks, its stages, and all that a profile needs."""
