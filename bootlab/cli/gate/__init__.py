"""`bootlab gate`: has a system become longer by more than it may, and what in it is new or grew?"""
