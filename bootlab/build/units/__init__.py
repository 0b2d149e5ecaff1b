"""What bootlab-init runs: its plan of a system's units, and units made of services and scripts of other inits."""
