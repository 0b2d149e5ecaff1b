"""What systemd says of a boot: its plots, dumps and times."""
