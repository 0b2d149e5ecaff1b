"""What makes a changed system where it is really built: fragments, drop-ins, a Debian package, a script."""
