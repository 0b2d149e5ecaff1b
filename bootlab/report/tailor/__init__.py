"""A tailoring, shown: each kernel on the way, and the reason for every option."""
