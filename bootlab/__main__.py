"""`python -m bootlab`: the same as the `bootlab` command."""

from bootlab.cli import main

main()
