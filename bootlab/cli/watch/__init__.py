"""`bootlab watch`: serial lines as they come, each line stamped, shown and recorded."""
