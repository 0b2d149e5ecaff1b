"""What packages cost a boot, proved: the same system without some of them, and what that saved beside what was said."""
