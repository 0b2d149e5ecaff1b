"""What the plugin recorded of a boot: its trace and its profile, read into values, nothing interpreted."""
