"""Where the time went: what the plugin is told, what it recorded, and what follows from it."""
