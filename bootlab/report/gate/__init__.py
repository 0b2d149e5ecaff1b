"""A gate's answer: for a terminal, and in the forms that continuous integration reads"""
