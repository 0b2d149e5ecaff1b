"""What one boot shows: an audit, files never opened, devices and their modules, for a terminal"""
