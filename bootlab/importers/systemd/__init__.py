"""What systemd says of a boot: its plots, dumps, times and journal."""
