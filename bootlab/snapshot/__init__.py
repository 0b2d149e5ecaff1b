"""A machine that is kept and restored: what a snapshot holds, whether it may be restored here, who its clones are"""
