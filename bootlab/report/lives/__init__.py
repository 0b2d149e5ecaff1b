"""A disk image's first boot and its later ones, shown: terminal and page"""
