"""`bootlab storm`: many machines of one system launched at once, or so many a second"""
