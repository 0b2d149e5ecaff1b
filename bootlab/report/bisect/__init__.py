"""What a bisection found, shown: each step with its commit and share, on the terminal and in Markdown"""
