"""Launch storms: many machines of one system at once, what each took, and what held them up"""
