"""Lives: a disk image's first boot and its later ones, what only the first did, and what chance did to any"""
