"""Where the time went: symbols and the plugin's trace."""
