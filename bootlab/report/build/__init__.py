"""What was built, or read of a system's units: as JSON and in words"""
